import fc from "fast-check";
import type { RunDetails } from "../../../core/runs/shapes";
import { type EndedRun, type EndSessionsDependencies, endSessions } from "../../../core/training/end-sessions";
import { endedRunsPolicy, type PolicyDocument } from "../../../platform/permissions";
import { runOf } from "../../support/fixtures";
import { rounds, seedOf } from "../../support/rounds";

const now = Date.parse("2026-01-01T12:00:00.000Z");
const minutesAgo = (minutes: number): string => new Date(now - minutes * 60_000).toISOString();
const attempt = {
  attempt: 1,
  market: "spot",
  placement: "spread",
  workers: 1,
  status: "submitted",
  startedAt: minutesAgo(60),
} as const;
const ended = (runId: string, endedAt = minutesAgo(0)): Pick<RunDetails, "run" | "attempts"> => ({
  run: runOf(runId, { status: "completed", endedAt }),
  attempts: [attempt],
});

/** IAM and the rows, each call of which waits for `turn`. */
function platformOf(turn: () => Promise<unknown> = async () => undefined) {
  const rows = new Map<string, EndedRun & { readonly until: number }>();
  const puts: PolicyDocument[] = [];
  const dependencies: EndSessionsDependencies = {
    clock: { now: () => now },
    endedRuns: {
      async add(run, until) {
        await turn();
        rows.set(run.runId, { ...run, until });
      },
      async list() {
        await turn();
        return [...rows.values()];
      },
    },
    denials: {
      async replace(runIds) {
        await turn();
        const { document, omitted } = endedRunsPolicy(runIds);
        puts.push(document);
        await turn();
        return omitted;
      },
    },
  };
  return { rows, puts, dependencies };
}

const deniedBy = (document: PolicyDocument | undefined): readonly string[] =>
  [document?.Statement[0]?.Condition?.["StringLike"]?.["aws:userid"] ?? []]
    .flat()
    .map((session) => session.slice(2))
    .filter((runId) => runId !== "");

describe("endSessions", () => {
  it("denies the run, and the other runs whose sessions may be valid, the latest first", async () => {
    const { dependencies, rows, puts } = platformOf();
    await endSessions(dependencies, ended("run-1", minutesAgo(15)));
    await endSessions(dependencies, ended("run-2", minutesAgo(2)));
    rows.set("run-0", { runId: "run-0", endedAt: minutesAgo(17), until: now - 60_000 });
    expect(await endSessions(dependencies, ended("run-3", minutesAgo(1)))).toEqual({ denied: 3, omitted: 0 });
    expect(deniedBy(puts.at(-1))).toEqual(["run-3", "run-2", "run-1"]);
    expect(rows.get("run-3")?.until).toBe(now + 15 * 60_000);
  });

  it("writes the same policy for a repeated event", async () => {
    const { dependencies, puts } = platformOf();
    for (let i = 0; i < 3; i += 1) await endSessions(dependencies, ended("run-1"));
    expect(puts.map(deniedBy)).toEqual([["run-1"], ["run-1"], ["run-1"]]);
  });

  it.each<[string, Pick<RunDetails, "run" | "attempts">]>([
    ["an open run", { ...ended("run-1"), run: runOf("run-1", { status: "running" }) }],
    ["a run that never began a job", { ...ended("run-1"), attempts: [] }],
    ["a run whose sessions have expired", ended("run-1", minutesAgo(16))],
  ])("leaves the policy as it is for %s", async (_what, details) => {
    const { dependencies, puts, rows } = platformOf();
    expect(await endSessions(dependencies, details)).toBeUndefined();
    expect([puts, rows.size]).toEqual([[], 0]);
  });

  it("fails when IAM does, and makes up for it at the next call, of whichever run", async () => {
    const { dependencies, puts } = platformOf();
    const replace = jest.fn().mockRejectedValueOnce(new Error("Throttling"));
    const failing = { ...dependencies, denials: { replace } };
    await expect(endSessions(failing, ended("run-1"))).rejects.toThrow("Throttling");
    await endSessions(dependencies, ended("run-2"));
    expect(deniedBy(puts.at(-1))).toEqual(["run-1", "run-2"]);
  });

  it("denies every run in the end, however overlapping calls interleave", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 2, max: 5 }), async (scheduler, runs) => {
        const { dependencies, puts } = platformOf(() => scheduler.schedule(Promise.resolve()));
        const names = Array.from({ length: runs }, (_, i) => `run-${i}`);
        const calls = Promise.all(names.map((name) => endSessions(dependencies, ended(name))));
        await scheduler.waitFor(calls);
        expect([...deniedBy(puts.at(-1))].sort()).toEqual(names);
      }),
      { numRuns: rounds(50), seed: seedOf(41) },
    );
  });

  it("keeps to IAM's limit: where not all runs fit, it omits those that ended first", async () => {
    const { dependencies, rows, puts } = platformOf();
    const count = 500;
    for (let i = 0; i < count; i += 1) {
      const runId = `run-${String(i).padStart(16, "0")}`;
      rows.set(runId, { runId, endedAt: minutesAgo(i / 100), until: now + 60_000 });
    }
    const outcome = await endSessions(dependencies, ended(`run-${"f".repeat(16)}`));
    expect(outcome).toEqual({ denied: 404, omitted: count + 1 - 404 });
    expect(JSON.stringify(puts.at(-1)).length).toBeLessThanOrEqual(10_240);
    const denied = deniedBy(puts.at(-1));
    expect(denied).toContain(`run-${"f".repeat(16)}`);
    expect(denied.filter((runId) => !runId.includes("f"))).toEqual([...rows.keys()].slice(0, 403));
  });
});

describe("endedRunsPolicy", () => {
  it("names nobody where no run has ended, and is a policy that IAM accepts", () => {
    expect(endedRunsPolicy([])).toEqual({
      document: {
        Version: "2012-10-17",
        Statement: [
          { Effect: "Deny", Action: "*", Resource: "*", Condition: { StringLike: { "aws:userid": ["*:"] } } },
        ],
      },
      omitted: 0,
    });
  });
});
