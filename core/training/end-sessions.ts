import type { Clock } from "../ports";
import { isOpen } from "../runs/run-states";
import type { RunDetails } from "../runs/shapes";
import { runSessionSeconds } from "./run-credentials";

/** A run whose trainers may still hold a session. */
export interface EndedRun {
  readonly runId: string;
  /** ISO 8601. */
  readonly endedAt: string;
}

/** The ended runs of all teams that may still have a session. */
export interface EndedRuns {
  /** Idempotent. @param until time at which the row may be deleted; milliseconds since the epoch */
  add(run: EndedRun, until: number): Promise<void>;
  /** Strongly consistent. Runs whose time has passed may still be listed. */
  list(): Promise<readonly EndedRun[]>;
}

/** The policy of the run role that ends sessions. */
export interface SessionDenials {
  /** Denies these runs' sessions, and no others. @returns the number of runs at the list's end that did not fit */
  replace(runIds: readonly string[]): Promise<number>;
}

export interface EndSessionsDependencies {
  readonly endedRuns: EndedRuns;
  readonly denials: SessionDenials;
  readonly clock: Clock;
}

/** A session requested before the run's end opens at most the time limit of `run-credentials` later. */
const marginMs = 60_000;
const heldMs = runSessionSeconds * 1_000 + marginMs;

/**
 * Denies everything to the sessions of a run that has ended. Idempotent.
 *
 * The rows say which runs are denied, and the policy is built from all of them. Calls may overlap, and one of them may
 * write a policy that is older than another's. Each call therefore reads the rows again after its write, and writes
 * again if they have changed: the call whose write took effect last has read every row that was added before it.
 * @returns how many runs the policy denies and how many did not fit; `undefined` if the run has no session to end
 */
export async function endSessions(
  { endedRuns, denials, clock }: EndSessionsDependencies,
  { run, attempts }: Pick<RunDetails, "run" | "attempts">,
): Promise<{ readonly denied: number; readonly omitted: number } | undefined> {
  const { runId, status, endedAt } = run;
  const now = clock.now();
  const holds = (ended: EndedRun): boolean => untilOf(ended) > now;
  // Only a job has the key by which a session is opened, and no attempt begins after the end.
  if (isOpen(status) || endedAt === undefined || attempts.length === 0 || !holds({ runId, endedAt })) return undefined;
  await endedRuns.add({ runId, endedAt }, untilOf({ runId, endedAt }));
  const read = async (): Promise<readonly string[]> =>
    (await endedRuns.list())
      .filter(holds)
      .sort(latestFirst)
      .map((ended) => ended.runId);
  for (let runIds = await read(); ; ) {
    const omitted = await denials.replace(runIds);
    const current = await read();
    if (current.join() === runIds.join()) return { denied: runIds.length - omitted, omitted };
    runIds = current;
  }
}

function untilOf({ endedAt }: EndedRun): number {
  return Date.parse(endedAt) + heldMs;
}

/** If not all runs fit, those whose sessions expire first are omitted. */
function latestFirst(a: EndedRun, b: EndedRun): number {
  if (a.endedAt !== b.endedAt) return a.endedAt < b.endedAt ? 1 : -1;
  return a.runId < b.runId ? -1 : 1;
}
