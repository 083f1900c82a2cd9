import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { GroupCommit } from "../../../adapters/dynamodb/group-commit";
import { createRunRecords } from "../../../adapters/dynamodb/record-repository";
import { createRunChanges } from "../../../adapters/dynamodb/run-changes";
import { createRunIdentities } from "../../../adapters/dynamodb/run-identities";
import { Table } from "../../../adapters/dynamodb/table";
import type { RunIdentity, RunRecord } from "../../../core/tracking/shapes";
import { localConfig } from "../../../stack/settings";
import { loggedRun } from "../../core/tracking/records/logged-run";
import { useEmbedded } from "../../support/embedded";

const embedded = useEmbedded();

const { catalog, metrics } = localConfig().tables;
const second = (n: number): number => Date.parse("2026-01-01T00:00:00.000Z") + n * 1_000;

/** Opens a process whose clock the test sets. It counts requests, and loses all of them once `dead` is set. */
function openProcess(team: string, now = second(0)) {
  const state = { now, sent: 0, diesAfter: Number.POSITIVE_INFINITY, delays: [] as number[] };
  const client = new Proxy(embedded.dynamodb, {
    get: (target, name) =>
      name === "send"
        ? async (command: never) => {
            if (state.sent >= state.diesAfter) throw new Error("killed");
            state.sent += 1;
            state.now += state.delays.shift() ?? 0;
            return target.send(command);
          }
        : Reflect.get(target, name),
  }) as DynamoDBDocumentClient;
  const table = new Table(client, catalog);
  const changes = createRunChanges(table, { now: () => state.now });
  const creations = new GroupCommit(client);
  const records = createRunRecords(table, {
    identities: createRunIdentities(table),
    changes,
    creations,
    metrics: new Table(client, metrics),
  }).of(team);
  return { state, records, changes: changes.of(team) };
}

const identity = (runId: string, experimentId = "0"): RunIdentity => ({
  runId,
  team: "t",
  experimentId,
  source: "logged",
});

describe("marks of changed runs", () => {
  it("are written once per second and process, and listed from a given second on", async () => {
    const { state, changes } = openProcess("t", second(10));
    await Promise.all([changes.mark(identity("a")), changes.mark(identity("a")), changes.mark(identity("b"))]);
    await changes.mark(identity("a"));
    expect(state.sent).toBe(2);
    state.now = second(12.5);
    await changes.mark(identity("a"));
    await changes.mark(identity("c", "7"));
    expect(state.sent).toBe(4);
    const since = async (n: number, experiment = "0") => [...(await changes.since(experiment, second(n)))].sort();
    expect(await since(10.9)).toEqual(["a", "b"]);
    expect(await since(11)).toEqual(["a"]);
    expect(await since(13)).toEqual([]);
    expect(await since(0, "7")).toEqual(["c"]);
    expect(await openProcess("u").changes.since("0", 0)).toEqual([]);
  });

  it("are written again if they arrive too late for a reader", async () => {
    const { state, changes } = openProcess("late", second(20));
    state.delays = [2_400];
    await changes.mark({ ...identity("in-time"), team: "late" });
    expect(state.sent).toBe(1);
    // Each mark but the last is later than a second.
    state.delays = [6_000, 4_000, 100];
    await changes.mark({ ...identity("late"), team: "late" });
    expect(state.sent).toBe(4);
    expect(await changes.since("0", second(32))).toEqual(["late"]);
  });

  it("are written again after one failed", async () => {
    const { state, changes } = openProcess("t", second(20));
    state.diesAfter = 0;
    await expect(changes.mark(identity("again"))).rejects.toThrow("killed");
    state.diesAfter = Number.POSITIVE_INFINITY;
    await changes.mark(identity("again"));
    expect(await changes.since("0", second(20))).toEqual(["again"]);
  });
});

describe("a process that is killed during a change", () => {
  const noted = (record: RunRecord) => (record.notes === "noted" ? undefined : { ...record, notes: "noted" });

  it.each([0, 1, 2, 3, 4, 5])(
    "after %i requests: no change is without a mark, and the next try makes the rest",
    async (diesAfter) => {
      const team = `killed-${diesAfter}`;
      const runId = `run-killed-${diesAfter}`;
      await openProcess(team).records.create(loggedRun(runId, { team }));
      const victim = openProcess(team, second(100));
      victim.state.diesAfter = diesAfter;
      const end = await victim.records.change(runId, noted).catch((error: Error) => error.message);
      const { records, changes } = openProcess(team, second(102));
      const changed = (await records.find(runId))?.notes === "noted";
      // A reader that read just before the change looks five seconds back the next time.
      if (changed) expect(await changes.since("0", second(100))).toEqual([runId]);
      else expect(end).toBe("killed");
      expect((await records.change(runId, noted)).notes).toBe("noted");
      expect(await changes.since("0", second(102))).toEqual([runId]);
      expect((await records.find(runId))?.revision).toBe(2);
    },
  );

  it("in a creation: the run exists with its mark or not at all, and the same request creates it", async () => {
    const team = "killed-making";
    for (const diesAfter of [0, 1]) {
      const victim = openProcess(team, second(100));
      victim.state.diesAfter = diesAfter;
      const record = loggedRun(`run-making-${diesAfter}`, { team });
      await victim.records.create(record).catch(() => undefined);
      const { records, changes } = openProcess(team, second(102));
      const there = await records.find(record.runId);
      expect((await changes.since("0", second(100))).includes(record.runId)).toBe(there !== undefined);
      expect((await records.create(record)).record).toEqual(record);
    }
  });
});
