import { type Conclusion, closeRunByConclusion, type StateError } from "../../core/training/conclusion";
import { type StepEvent, stepHandler } from "../step-handler";

interface ConcludeEvent extends StepEvent {
  readonly conclusion: Conclusion;
  readonly error?: StateError;
}

/** Closes the run with the state machine's conclusion, once; the first end stays. */
export const handler = stepHandler(async (platform, { runId, conclusion, error }: ConcludeEvent) => {
  const { status, failure } = await closeRunByConclusion(platform, runId, conclusion, error);
  if (failure) platform.logger.log("warn", "run failed", { failure });
  return { status };
});
