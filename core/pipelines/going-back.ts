import { isoTime } from "../clock";
import { RingmasterError } from "../errors";
import type { Clock } from "../ports";
import type { Phase } from "../training/run";
import type { RunRepository } from "../training/run-repository";

/**
 * Where a step finds that what an earlier one looked at has changed since, its run goes back to that one: the state machine catches the error's code. Of the
 * first two, another version was promoted meanwhile, or the model's policy was changed; of the others, the policy asks for more approvals than it did, or the version has become a canary under test.
 */
export const waysBack = [
  { from: "Gate", code: "CHAMPION_CHANGED", to: "Evaluate" },
  { from: "Promote", code: "GATE_OUTDATED", to: "Evaluate" },
  { from: "Promote", code: "NOT_APPROVED", to: "AwaitApproval" },
  { from: "Promote", code: "CANARY_UNDER_TEST", to: "AwaitApproval" },
] as const satisfies readonly { readonly from: Phase; readonly code: string; readonly to: Phase }[];

/** Does a step's work; an error that leads back lets the run enter the earlier step again, which it had passed, and is thrown on. */
export async function goingBack<Result>(
  { runs, clock }: { readonly runs: RunRepository; readonly clock: Clock },
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
