import { RunNotFoundError } from "../runs/errors";
import type { RunRecords } from "../tracking/run-records";
import type { Actor, ModelVersion } from "./model";

type Submitters = Pick<ModelVersion, "submitters">;

/**
 * Returns the submitters of a version that a caller registers: the caller and the people behind the run that the version was made of. The rule of
 * every API that registers versions.
 *
 * @throws RunNotFoundError where the team has no such run
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

/** Adds a caller to the submitters of the run, or of the version, that its own version was made of. */
export function addSubmitters(origin: Submitters | undefined, { person }: Pick<Actor, "person">): Submitters {
  return person ? { submitters: [...new Set([person.id, ...(origin?.submitters ?? [])])] } : { submitters: undefined };
}
