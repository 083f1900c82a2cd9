import type { EvaluationOutput, GateOutput, RegistrationOutput, TrainingOutput } from "../../pipelines/outputs";
import { findOutput, outputOf, type StepDefinition } from "../../runs/step";
import { isPending } from "./external-check";
import { findingsDigest, type JudgeDependencies, verdictOn } from "./judge-version";
import { recordVerdict } from "./transitions";

/**
 * Holds the run's version against its gates and the champion of this moment; never reused, because champion and policy change.
 *
 * @throws ChampionChangedError where the evaluation met another champion: the state machine goes back to it.
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
      // Once: a repetition after the approval would take the approval away.
      const request = `gate#${run.runId}#${head.productionRevision ?? 0}#${findingsDigest(verdict)}`;
      const actor = { by: `run ${run.runId}`, at: verdict.at };
      await registry.apply(model, [version], recordVerdict(version, verdict, actor), request);
      // With the answers that came meanwhile, or before a repetition.
      const recorded = (await registry.version(model, version)).gate ?? verdict;
      const reasons = recorded.checks.filter((check) => !check.passed).map((check) => check.evidence);
      const pending = isPending(recorded);
      return { model, version, passed: recorded.passed, ...(pending ? { pending } : {}), reasons };
    },
  };
}
