import { isoTime } from "../clock";
import { RingmasterError } from "../errors";
import type { Clock } from "../ports";
import type { Phase } from "./run";
import type { RunPhases } from "./run-repository";

/**
 * Errors that send a run back to an earlier step, by the code that the state machine catches. `CHAMPION_CHANGED` and
 * `GATE_OUTDATED`: another version was promoted in the meantime, or the model's policy was changed. `NOT_APPROVED`: the
 * policy requires more approvals than before. `CANARY_UNDER_TEST`: the version has become a canary under test.
 */
export const waysBack = [
  { from: "Gate", code: "CHAMPION_CHANGED", to: "Evaluate" },
  { from: "Promote", code: "GATE_OUTDATED", to: "Evaluate" },
  { from: "Promote", code: "NOT_APPROVED", to: "AwaitApproval" },
  { from: "Promote", code: "CANARY_UNDER_TEST", to: "AwaitApproval" },
] as const satisfies readonly { readonly from: Phase; readonly code: string; readonly to: Phase }[];

/** Executes a step. After an error of that list, the run may enter the earlier step again; the error is rethrown. */
export async function returnToEarlierStep<Result>(
  { runs, clock }: { readonly runs: Pick<RunPhases, "goBack">; readonly clock: Clock },
  runId: string,
  from: Phase,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const code = error instanceof RingmasterError ? error.code : undefined;
    const way = waysBack.find((each) => each.from === from && each.code === code);
    if (way) await runs.goBack(runId, from, way.to, isoTime(clock));
    throw error;
  }
}
