import { isoTime } from "../../core/clock";
import type { RegistrationOutput } from "../../core/pipelines/outputs";
import { findOutput } from "../../core/pipelines/step";
import { type Conclusion, failureOf, outcomeOf, type StateError } from "../../core/training/conclude";
import { RunNotFoundError } from "../../core/training/errors";
import { type StepEvent, stepHandler } from "../step-handler";

interface ConcludeEvent extends StepEvent {
  readonly conclusion: Conclusion;
  readonly error?: StateError;
}

/** Writes the run's end into its row, once: the first end stands. */
export const handler = stepHandler(async ({ runs, registry, jobs, clock, logger }, event: ConcludeEvent) => {
  const details = await runs.findDetails(event.runId);
  if (!details) throw new RunNotFoundError(event.runId);
  const at = isoTime(clock);
  if (event.conclusion === "failed") {
    const attempt = details.attempts.at(-1);
    if (attempt?.jobId !== undefined && attempt.status === "submitted")
      await jobs.terminate(attempt.jobId, "the run failed");
    const failure = failureOf(event.error, details.run);
    await runs.conclude(event.runId, { status: "failed", at, failure });
    logger.log("warn", "run failed", { failure });
    return { status: "failed" };
  }
  const registration = findOutput<RegistrationOutput>(details, "Register");
  const version = registration && (await registry.repository.findVersion(registration.model, registration.version));
  await runs.conclude(event.runId, { status: "completed", at, outcome: outcomeOf(event.conclusion, details, version) });
  return { status: "completed" };
});
