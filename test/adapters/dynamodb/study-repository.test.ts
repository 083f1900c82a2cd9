import { createStudyRepository } from "../../../adapters/dynamodb/study-repository";
import { Table } from "../../../adapters/dynamodb/table";
import type { Study, Trial } from "../../../core/tuning/shapes";
import { localConfig } from "../../../stack/settings";
import { useEmbedded } from "../../support/embedded";

describe("a study's state", () => {
  const embedded = useEmbedded();

  const study = (name: string, revision: number) =>
    ({
      name,
      revision,
      status: "running",
      createdAt: "2026-01-01T00:00:00.000Z",
      definition: {},
      best: [],
    }) as unknown as Study;
  const trial = (number: number, state: Trial["state"]) =>
    ({ number, state, params: {}, reports: [] }) as unknown as Trial;

  /** Returns the repository of another process, and the queries that it has sent. */
  function process() {
    const table = new Table(embedded.dynamodb, localConfig().tables.catalog);
    const queries: string[] = [];
    const all = table.all.bind(table);
    table.all = (where, options) => {
      queries.push("all");
      return all(where, options);
    };
    return { studies: createStudyRepository(table, "default"), queries };
  }
  const summary = async ({ studies }: ReturnType<typeof process>, name: string) => {
    const state = await studies.load(name);
    return [state?.study.revision, state?.trials.map(({ number, state }) => `${number} ${state}`)];
  };

  it("is read whole once by a process that alone writes it", async () => {
    const one = process();
    await one.studies.create(study("a", 1));
    expect(await summary(one, "a")).toEqual([1, []]);
    await one.studies.save(study("a", 2), [trial(1, "running"), trial(0, "running")]);
    expect(await summary(one, "a")).toEqual([2, ["0 running", "1 running"]]);
    await one.studies.save(study("a", 3), [trial(1, "completed")]);
    expect(await summary(one, "a")).toEqual([3, ["0 running", "1 completed"]]);
    expect(one.queries).toEqual(["all"]);
    expect(await summary(process(), "a")).toEqual([3, ["0 running", "1 completed"]]);
  });

  it("is read again after another process's write, also where its own write lost", async () => {
    const [one, other] = [process(), process()];
    await one.studies.create(study("b", 1));
    await one.studies.save(study("b", 2), [trial(0, "running")]);
    await summary(one, "b");
    await other.studies.save(study("b", 3), [trial(0, "paused")]);
    expect(await one.studies.save(study("b", 3), [trial(0, "completed")])).toBe(false);
    expect(await summary(one, "b")).toEqual([3, ["0 paused"]]);
    expect(await summary(other, "b")).toEqual([3, ["0 paused"]]);
    expect(await summary(one, "absent")).toEqual([undefined, undefined]);
  });

  it("is not kept where a write came between its pages", async () => {
    const [one, other] = [process(), process()];
    await one.studies.create(study("c", 1));
    const load = one.studies.load("c");
    await other.studies.save(study("c", 2), [trial(0, "running")]);
    await load;
    expect(await summary(one, "c")).toEqual([2, ["0 running"]]);
  });
});
