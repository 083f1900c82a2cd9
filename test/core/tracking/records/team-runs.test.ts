import type { AllRuns, RunRepository } from "../../../../core/runs/run-repository";
import { createLiveRuns } from "../../../../core/tracking/records/live-runs";
import { teamRuns } from "../../../../core/tracking/records/team-runs";
import type { RunIdentity } from "../../../../core/tracking/shapes";
import { runOf } from "../../../support/fixtures";

it("believes for a second that a run is active, and forgets one that is not", () => {
  let now = 10_000;
  const live = createLiveRuns({ now: () => now });
  expect(live.isLive("a")).toBe(false);
  live.note({ runId: "a", lifecycle: "active" });
  live.note({ runId: "b", lifecycle: "active" });
  expect([live.isLive("a"), live.isLive("b")]).toEqual([true, true]);
  live.note({ runId: "b", lifecycle: "deleted" });
  now += 999;
  expect([live.isLive("a"), live.isLive("b")]).toEqual([true, false]);
  now += 1;
  expect(live.isLive("a")).toBe(false);
});

type Method = (...parameters: unknown[]) => Promise<unknown>;

/** Runs of red and blue. Answers every call that is not about finding a run with "done", and says which there were. */
function allRuns() {
  const rows = new Map(
    [runOf("run-red", { team: "red" }), runOf("run-blue", { team: "blue" })].map((run) => [run.runId, run]),
  );
  const calls: string[] = [];
  const known: Partial<AllRuns> = {
    find: async (runId) => {
      calls.push("find");
      return rows.get(runId);
    },
    findDetails: async (runId) => {
      const run = rows.get(runId);
      return run && { run, steps: [], attempts: [], workers: [], machines: [], recoveries: [], warnings: [] };
    },
    listOpen: async () => [...rows.values()],
    list: async ({ team }) => ({ runs: [...rows.values()].filter((run) => run.team === team) }),
    create: async (run) => {
      calls.push("create");
      return { created: !rows.has(run.runId), run: rows.get(run.runId) ?? run };
    },
  };
  const all = new Proxy(known, {
    get: (target, name: keyof AllRuns) =>
      target[name] ??
      (async () => {
        calls.push(name);
        return "done";
      }),
  }) as AllRuns;
  return { all, calls };
}

const teams: Readonly<Record<string, string>> = { "run-red": "red", "run-blue": "blue", "run-logged": "red" };
async function identify(runId: string): Promise<RunIdentity | undefined> {
  const team = teams[runId];
  return team ? { runId, team, experimentId: "1", source: runId === "run-logged" ? "logged" : "training" } : undefined;
}
const nothing = async () => undefined;
const runsOf = (team: string, all: AllRuns) =>
  teamRuns(all, team, {
    identities: { identify },
    changes: { mark: nothing },
    records: { addInstanceType: nothing },
    artifacts: { putProduced: nothing },
    experiments: {
      ensure: async (name) => ({
        ...{ experimentId: "1", team, name, lifecycle: "active", tags: {}, artifactLocation: "1" },
        ...{ createdBy: "ada", createdAt: "", updatedAt: "", revision: 1 },
      }),
    },
  });

describe("a team's port to runs", () => {
  const methods = Object.keys(runsOf("red", allRuns().all)) as (keyof RunRepository)[];
  /** Methods without the id of an existing run, and those that are tested separately. */
  const others: readonly string[] = ["create", "find", "findDetails", "list", "listOpen", "monthUsage"];
  const about = methods.filter((name) => !others.includes(name));

  it("finds and lists the team's own", async () => {
    const blue = runsOf("blue", allRuns().all);
    expect((await blue.find("run-blue"))?.runId).toBe("run-blue");
    expect((await blue.findDetails("run-blue"))?.run.runId).toBe("run-blue");
    expect(await blue.find("run-red")).toBeUndefined();
    expect(await blue.findDetails("run-red")).toBeUndefined();
    expect((await blue.list({ limit: 10 })).runs.map(({ runId }) => runId)).toEqual(["run-blue"]);
    expect((await blue.listOpen()).map(({ runId }) => runId)).toEqual(["run-blue"]);
  });

  it.each(about)("%s does nothing to another team's run, a logged run, or one that is not there", async (name) => {
    const { all, calls } = allRuns();
    const port = runsOf("blue", all) as unknown as Record<string, Method>;
    const of = (runId: string) =>
      port[name]!(runId, {}, {}, {}).catch((error: Error) => error.message.replace(runId, "…"));
    const answer = await of("run-red");
    expect(await of("run-none")).toEqual(answer);
    expect(await of("run-logged")).toEqual(answer);
    expect(calls).toEqual([]);
    expect([false, undefined, [], expect.stringContaining("there is no run")]).toContainEqual(answer);
  });

  it.each(about)("%s reaches the team's own", async (name) => {
    const { all, calls } = allRuns();
    const port = runsOf("red", all) as unknown as Record<string, Method>;
    await port[name]!("run-red", {}, {}, {});
    expect(calls).toEqual([name]);
  });

  it("creates no run for another team, nor hands out one that has the same id", async () => {
    const { all, calls } = allRuns();
    const blue = runsOf("blue", all);
    await expect(blue.create(runOf("run-new", { team: "red" }))).rejects.toThrow("of team red, not of blue");
    expect(calls).toEqual([]);
    await expect(blue.create(runOf("run-red", { team: "blue" }))).rejects.toThrow("taken by another team's run");
    expect(await blue.create(runOf("run-new", { team: "blue" }))).toMatchObject({ created: true });
  });
});
