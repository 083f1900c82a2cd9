import { createModelRepository } from "../../../adapters/dynamodb/model-repository";
import { Table } from "../../../adapters/dynamodb/table";
import { emptyModel } from "../../../core/registry/lifecycle";
import { createRegistry } from "../../../core/registry/registry";
import { decideApproval, promote, rollBack } from "../../../core/registry/transitions";
import { versionRow } from "../../support/registry";
import { preparedOperations } from "./check/operations";
import { perform } from "./check/perform";
import { MemoryTable } from "./check/table";

const by = { by: "tester", at: "2026-01-01T00:00:00.000Z" };

describe("changes that lose the race", () => {
  /** Versions 1 and 2 were promoted; the given number of conflicts occurs. */
  async function modelThatMeets(conflicts: number) {
    const table = new MemoryTable();
    const turn = () => Promise.resolve();
    const registryWith = (meets: () => boolean, pause?: (round: number) => Promise<void>) =>
      createRegistry(createModelRepository(new Table(table.client(turn, meets), "Catalog"), "default"), pause);
    const calm = registryWith(() => false);
    for (const operation of preparedOperations(3, "p")) await perform(calm, "m", operation);
    await calm.apply("m", [3], decideApproval(3, "approved", by));
    const pauses: number[] = [];
    let left = conflicts;
    const registry = registryWith(
      () => left-- > 0,
      async (round) => void pauses.push(round),
    );
    return { registry, calm, pauses };
  }

  it("are made again after a pause, each time a later one", async () => {
    const { registry, pauses } = await modelThatMeets(3);
    await registry.apply("m", [3], promote(3, by));
    expect(pauses).toEqual([1, 2, 3]);
    expect((await registry.production("m")).version).toBe(3);
  });

  it("are given up after 24 rounds, without a change, with a retryable error", async () => {
    const { registry, calm, pauses } = await modelThatMeets(Number.POSITIVE_INFINITY);
    const before = await calm.snapshot("m");
    const attempt = registry.apply("m", [3], promote(3, by));
    await expect(attempt).rejects.toMatchObject({ code: "REGISTRY_BUSY" });
    await expect(attempt).rejects.toMatchObject({ httpStatus: 503, retryable: true });
    expect(pauses).toEqual(Array.from({ length: 23 }, (_, at) => at + 1));
    expect(await calm.snapshot("m")).toEqual(before);
  });

  it("remember a hundred champions, the latest", () => {
    const formerProduction = Array.from({ length: 100 }, (_, at) => at + 1);
    const model = {
      ...emptyModel("m", "t", by),
      revision: 900,
      latestVersion: 102,
      production: 101,
      formerProduction,
    };
    const approval = { decision: "approved" as const, by: "p", reason: "", at: by.at };
    const gate = { passed: true, checks: [], champion: 101, at: by.at };
    const version = (number: number) => versionRow("m", number, { stage: "staging", gate, approvals: [approval] });
    const promoted = promote(102, by)({ model, version })!.model;
    expect(promoted.formerProduction).toHaveLength(100);
    expect([promoted.formerProduction[0], promoted.formerProduction.at(-1)]).toEqual([2, 101]);
    expect(rollBack(by, 102)({ model: promoted, version })!.model.production).toBe(101);
  });
});
