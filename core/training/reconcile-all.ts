import { eachLimited } from "../each-limited";
import type { Meter } from "../metering/metrics";
import type { Clock } from "../ports";
import type { Run } from "../runs/run";
import { type ReconcileDependencies, reconcile } from "./reconcile";
import { runLevels } from "./run-levels";

export interface ReconcileAllOptions {
  readonly forTeam: (team: string) => ReconcileDependencies;
  readonly meter: Meter;
  readonly clock: Clock;
  /** Time after which no further run is started; milliseconds since the epoch. */
  readonly until: number;
  readonly onDone: (runId: string, state: string) => void;
  readonly onError: (runId: string, error: unknown) => void;
}

/** Number of runs at a time. Their waits for services overlap, within the services' rate limits. */
const atOnce = 8;

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
  await eachLimited(runsInTime(), atOnce, async (run) => {
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
