import { eachLimited } from "../each-limited";
import type { Meter, OperationalMetric } from "../metering/metrics";
import type { Clock } from "../ports";
import type { NextMove } from "../runs/attempts";
import type { Executions } from "../runs/ports";
import { isOpen, type Phase } from "../runs/run-states";
import type { Run, RunDetails } from "../runs/shapes";
import { cleanUpRun, closeInterruptedRun } from "./close-run";
import { completeEvaluation } from "./evaluation-job";
import { type LaunchDependencies, latestAttempts } from "./launch";
import { continueTraining } from "./limits";
import type { NextMoveDependencies } from "./next-move";
import { finishPause } from "./pause";

/** Time in which the workers of a completed training end: they upload the last checkpoint and send metrics. */
const graceMs = 5 * 60_000;
/** Time after which the workers are no longer checked. The job ends with the run at the latest. */
const watchedForMs = 60 * 60_000;

/** Ends the job of a completed training or evaluation whose workers have not all ended in time. */
async function stopStragglers({ jobs, clock }: LaunchDependencies, { run, attempts }: RunDetails): Promise<void> {
  for (const { status, jobId, endedAt } of latestAttempts(attempts)) {
    if (status !== "succeeded" || jobId === undefined || endedAt === undefined) continue;
    const since = clock.now() - Date.parse(endedAt);
    if (since < graceMs || since > watchedForMs) continue;
    if ((await jobs.describe(jobId)).status !== "running") continue;
    await jobs.terminate(jobId, "its work has finished, but a worker did not exit", run.runId);
  }
}

export interface ReconcileDependencies extends NextMoveDependencies {
  readonly executions: Executions;
}

/** Time after which a missing start counts as lost with its process. */
const startGraceMs = 30_000;

/** Compares an open run with the services' state, and repairs the effects of lost events. */
export async function reconcile(dependencies: ReconcileDependencies, run: Run): Promise<string> {
  const { executions, runs, clock } = dependencies;
  if (run.status === "paused") {
    await finishPause(dependencies, run.runId);
    return "paused";
  }
  if (!isOpen(run.status)) {
    await cleanUpRun(dependencies, run.runId, run.failure?.message ?? `the run is ${run.status}`, executions);
    return "cleaned up";
  }
  const execution = await executions.status(run);
  if (execution === undefined) {
    const queuedAt = run.segment === undefined ? run.createdAt : run.updatedAt;
    if (clock.now() - Date.parse(queuedAt) < startGraceMs) return "starting";
    await executions.start(run);
    return "started";
  }
  if (execution === "failed" || execution === "timed-out" || execution === "aborted") {
    const status = ({ failed: "FAILED", "timed-out": "TIMED_OUT", aborted: "ABORTED" } as const)[execution];
    await closeInterruptedRun(dependencies, run, status, undefined, undefined);
    return "concluded";
  }
  if (run.phase === "LaunchTraining") {
    const move = await continueTraining(dependencies, run.runId);
    if (move !== "limit exceeded") await keepWaiting(dependencies, run.runId, run.phase, move);
    return move;
  }
  const details = await runs.findDetails(run.runId);
  if (details) await stopStragglers(dependencies, details);
  if (run.phase === "Evaluate" && details?.attempts.at(-1)?.evaluation !== undefined) {
    const move = await completeEvaluation(dependencies, run.runId);
    await keepWaiting(dependencies, run.runId, run.phase, move);
    return move;
  }
  return "running";
}

/** Keeps the wait of a state alive: Batch may queue a job for hours until there is capacity. */
async function keepWaiting(
  { runs, tokens }: Pick<ReconcileDependencies, "runs" | "tokens">,
  runId: string,
  phase: Phase,
  move: NextMove["move"],
): Promise<void> {
  if (move !== "wait" && move !== "resubmit") return;
  const waiting = await runs.findTaskTokens(runId, phase);
  await Promise.all(waiting.map((token) => tokens.heartbeat(token)));
}

interface ReconcileAllOptions {
  readonly forTeam: (team: string) => ReconcileDependencies;
  readonly meter: Meter;
  readonly clock: Clock;
  /** Time after which no further run is started; milliseconds since the epoch. */
  readonly until: number;
  readonly onDone: (runId: string, state: string) => void;
  readonly onError: (runId: string, error: unknown) => void;
}

/** Number of runs at a time. Their waits for services overlap, within the services' rate limits. */
const concurrency = 8;

/**
 * Reconciles every open run. A failure of one run does not affect others. If there are more runs than time, each minute
 * starts with other runs, so that each gets its turn.
 */
export async function reconcileAll(open: readonly Run[], options: ReconcileAllOptions): Promise<void> {
  const { forTeam, meter, clock, until, onDone, onError } = options;
  for (const [team, levels] of runLevels(open)) meter.emit(levels, team);

  // The start differs each minute. It moves through the list by the golden ratio, so that consecutive starts are far
  // apart.
  const minute = Math.floor(clock.now() / 60_000);
  const first = Math.floor(((minute * 0.618_033_988_749) % 1) * open.length);
  const waiting = [...open.slice(first), ...open.slice(0, first)];
  let errors = 0;
  await eachLimited(runsInTime(), concurrency, async (run) => {
    try {
      onDone(run.runId, await reconcile(forTeam(run.team), run));
    } catch (error) {
      errors += 1;
      onError(run.runId, error);
    }
  });
  if (errors > 0) meter.emit({ ReconcileErrors: errors });
  if (waiting.length > 0) meter.emit({ ReconcileUnreached: waiting.length });

  function* runsInTime(): Generator<Run> {
    for (let run = waiting[0]; run !== undefined && clock.now() < until; run = waiting[0]) {
      waiting.shift();
      yield run;
    }
  }
}

type Level = Extract<OperationalMetric, `Runs${"Queued" | "Preparing" | "Training" | "Concluding"}`>;

const levelOf: Readonly<Record<Phase, Level>> = {
  ValidateDataset: "RunsPreparing",
  PrepareFeatures: "RunsPreparing",
  LaunchTraining: "RunsTraining",
  Evaluate: "RunsConcluding",
  Register: "RunsConcluding",
  Gate: "RunsConcluding",
};

/** Open runs of each team by state. Teams without any are omitted, so that an idle platform writes no metrics. */
export function runLevels(runs: readonly Run[]): ReadonlyMap<string, Readonly<Record<Level, number>>> {
  const teams = new Map<string, Record<Level, number>>();
  for (const run of runs) {
    if (!isOpen(run.status)) continue;
    const levels = teams.get(run.team) ?? {
      RunsQueued: 0,
      RunsPreparing: 0,
      RunsTraining: 0,
      RunsConcluding: 0,
    };
    levels[run.phase === undefined || run.status === "queued" ? "RunsQueued" : levelOf[run.phase]] += 1;
    teams.set(run.team, levels);
  }
  return teams;
}
