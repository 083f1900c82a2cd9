import type { EvaluationOutput } from "../../evaluation/evaluate-model";
import { findOutput, outputOf, type StepDefinition } from "../../runs/step";
import type { TrainingOutput } from "../../runs/training-task";
import type { RegistrationOutput } from "../registration";
import { isPending } from "./external-check";
import { findingsDigest, type JudgeDependencies, verdictOn } from "./judge-version";
import { recordVerdict } from "./transitions";

/** Output of the step `Gate`. */
export interface GateOutput {
  readonly model: string;
  readonly version: number;
  readonly passed: boolean;
  /** No gate failed, and an external check has not answered yet: the run waits for it. */
  readonly pending?: true;
  readonly reasons: readonly string[];
}

/**
 * Judges the run's version by its gates and the present champion. Never reused, because champion and policy change.
 *
 * @throws ChampionChangedError if the evaluation compared with another champion; the state machine returns to it
 */
export function gateStep(dependencies: JudgeDependencies): StepDefinition<GateOutput> {
  const { registry } = dependencies;
  return {
    step: "Gate",
    version: 2,
    reusable: false,
    inputs: (run, details) => ({
      registration: outputOf<RegistrationOutput>(details, "Register"),
      evaluation: run.job.evaluation,
    }),
    async execute(run, details) {
      const { model, version } = outputOf<RegistrationOutput>(details, "Register");
      const { verdict, model: head } = await verdictOn(dependencies, model, version, {
        job: run.job,
        evaluation: outputOf<EvaluationOutput>(details, "Evaluate"),
        training: findOutput<TrainingOutput>(details, "LaunchTraining"),
      });
      // Recorded once: a repetition after the approval would withdraw the approval.
      const request = `gate#${run.runId}#${head.productionRevision ?? 0}#${findingsDigest(verdict)}`;
      const actor = { by: `run ${run.runId}`, at: verdict.at };
      await registry.apply(model, [version], recordVerdict(version, verdict, actor), request);
      // Includes answers that arrived in between, or before a repetition.
      const recorded = (await registry.version(model, version)).gate ?? verdict;
      const reasons = recorded.checks.filter((check) => !check.passed).map((check) => check.evidence);
      const pending = isPending(recorded);
      return { model, version, passed: recorded.passed, ...(pending ? { pending } : {}), reasons };
    },
  };
}
