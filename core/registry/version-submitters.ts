import { RunNotFoundError } from "../runs/errors";
import type { RunRecords } from "../tracking/run-records";
import type { Actor, ModelVersion } from "./model";

type Submitters = Pick<ModelVersion, "submitters">;

/**
 * Returns the submitters of a version that a caller registers: the caller and the people behind the run from which the
 * version was made. Every API that registers versions uses this rule.
 *
 * @throws RunNotFoundError if the team has no such run
 */
export async function submittersOfVersion(
  records: Pick<RunRecords, "find">,
  runId: string | undefined,
  caller: Pick<Actor, "person">,
): Promise<Submitters> {
  const run = runId === undefined ? undefined : await records.find(runId);
  if (runId !== undefined && !run) throw new RunNotFoundError(runId);
  return addSubmitters(run, caller);
}

/** Adds a caller to the submitters of the run or version from which its own version was made. */
export function addSubmitters(origin: Submitters | undefined, { person }: Pick<Actor, "person">): Submitters {
  return person ? { submitters: [...new Set([person.id, ...(origin?.submitters ?? [])])] } : { submitters: undefined };
}
