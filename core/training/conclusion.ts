import { evaluationKind } from "../evaluation/shapes";
import { isoTime, type ObjectStore } from "../ports";
import type { RunOutputs } from "../registry/gates/candidate";
import { unregisteredFacts } from "../registry/gates/candidate-facts";
import { judge } from "../registry/gates/judge";
import { combine } from "../registry/gates/requirements";
import { type GateVerdict, gateKind } from "../registry/gates/verdict";
import { type ModelVersion, registrationKind } from "../registry/model";
import { rulesOf } from "../registry/policy";
import type { ModelRepository } from "../registry/repository";
import { runNotFound } from "../runs/errors";
import type { Run, RunDetails, RunFailure, RunOutcome } from "../runs/shapes";
import { findOutput, outputOf } from "../runs/step";
import { trainingKind } from "../runs/training-task";
import { closeRun } from "./close-run";
import type { CompleteAttemptDependencies } from "./complete-attempt";

export type Conclusion = "registered" | "refused-by-gate" | "reproduced" | "evaluated" | "failed";

/** The error output of a state. `Cause` is a text; for a function's error it is JSON. */
export interface StateError {
  readonly Error?: string;
  readonly Cause?: string;
}

interface CloseRunDependencies extends CompleteAttemptDependencies {
  readonly registry: { readonly repository: Pick<ModelRepository, "findVersion"> };
  readonly objects: Pick<ObjectStore, "getContent">;
}

/** Closes a run with the state machine's conclusion. The first end stays. @throws RUN_NOT_FOUND */
export async function closeRunByConclusion(
  dependencies: CloseRunDependencies,
  runId: string,
  conclusion: Conclusion,
  error?: StateError,
): Promise<{ readonly status: "completed" | "failed"; readonly failure?: RunFailure }> {
  const { runs, registry } = dependencies;
  const details = await runs.findDetails(runId);
  if (!details) throw runNotFound(runId);
  if (conclusion === "failed") {
    const failure = failureOf(error, details.run);
    await closeRun(dependencies, details.run, { status: "failed", failure });
    return { status: "failed", failure };
  }
  if (conclusion === "reproduced") {
    await closeRun(dependencies, details.run, { status: "completed" });
    return { status: "completed" };
  }
  if (conclusion === "evaluated") {
    await closeRun(dependencies, details.run, {
      status: "completed",
      outcome: await evaluatedOutcome(dependencies, details),
    });
    return { status: "completed" };
  }
  const registration = findOutput(details, registrationKind);
  const version = registration && (await registry.repository.findVersion(registration.model, registration.version));
  await closeRun(dependencies, details.run, {
    status: "completed",
    outcome: outcomeOf(conclusion === "registered" ? decidedBefore(version) : conclusion, details, version),
  });
  return { status: "completed" };
}

/** Returns the conclusion for a version that an identical run registered, and that may be decided. */
function decidedBefore(version: ModelVersion | undefined): "promoted" | "rejected" | "registered" {
  if (version?.stage === "production") return "promoted";
  return version?.approvals.some(({ decision }) => decision === "rejected") ? "rejected" : "registered";
}

/** Returns the outcome of a run that registers no model: what its gates would decide. */
async function evaluatedOutcome(
  { objects, clock }: Pick<CloseRunDependencies, "objects" | "clock">,
  details: RunDetails,
): Promise<RunOutcome> {
  const evaluation = outputOf(details, evaluationKind);
  const training = findOutput(details, trainingKind);
  const { passed, checks } = await previewGates(
    objects,
    { job: details.run.job, evaluation, training },
    isoTime(clock),
  );
  const reasons = checks.filter((check) => !check.passed).map(({ evidence }) => evidence);
  return { decision: "not-registered", passed, reasons };
}

/** Returns the outcome. A run whose model was refused is a completed run. */
function outcomeOf(
  conclusion: "refused-by-gate" | ReturnType<typeof decidedBefore>,
  details: RunDetails,
  version: ModelVersion | undefined,
): RunOutcome {
  const { model, version: number } = outputOf(details, registrationKind);
  switch (conclusion) {
    case "promoted":
      return { decision: "promoted", model, version: number };
    case "registered":
      return { decision: "registered", model, version: number };
    case "refused-by-gate":
      return {
        decision: "refused-by-gate",
        model,
        version: number,
        // A check without an answer may have failed since.
        reasons: refusalsOf(version) ?? outputOf(details, gateKind).reasons,
      };
    case "rejected": {
      const reason = version?.approval?.reason ?? "";
      const by = version?.approval?.by ?? "unknown";
      return { decision: "rejected", model, version: number, reasons: [`rejected by ${by}${reason && `: ${reason}`}`] };
    }
  }
}

function refusalsOf(version: ModelVersion | undefined): readonly string[] | undefined {
  const { gate } = version ?? {};
  if (!gate || gate.passed) return undefined;
  return gate.checks.filter(({ passed }) => !passed).map(({ evidence }) => evidence);
}

/** The error of a distributed Map one of whose children failed. It does not name the child's error. */
const mapFailed = "States.ExceedToleratedFailureThreshold";

/** Returns the cause: the function's own code and message if there are any, else the service's. */
export function failureOf(error: StateError | undefined, run: Run): RunFailure {
  const code = error?.Error ?? "UNKNOWN";
  if (code === mapFailed) {
    const message = `a function failed on a part of dataset ${run.dataset.name}@${run.dataset.version}, after its retries. The failed child execution of the state machine and the function's log have the cause. Submit the run again: the results of the other parts are kept`;
    return { code: "PART_FAILED", message, phase: run.phase };
  }
  const cause = error?.Cause ?? "the state machine reported no cause";
  return { code, message: messageIn(cause), phase: run.phase };
}

function messageIn(cause: string): string {
  try {
    const parsed: unknown = JSON.parse(cause);
    if (parsed !== null && typeof parsed === "object" && "errorMessage" in parsed) return String(parsed.errorMessage);
  } catch {
    // The text is not a function's error object, and is the message itself.
  }
  return cause;
}

/** Judges a run by its own job's gates, as a model's first version: it has neither champion nor policy. */
async function previewGates(
  objects: Pick<ObjectStore, "getContent">,
  outputs: RunOutputs,
  at: string,
): Promise<GateVerdict> {
  const requirements = combine(outputs.job.evaluation, rulesOf({}));
  const facts = await unregisteredFacts(objects, outputs, requirements);
  return judge(requirements, facts, () => ({ unanswered: "checks run once the model is registered" }), at);
}
