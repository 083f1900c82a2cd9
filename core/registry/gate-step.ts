import { isoTime } from "../clock";
import type { EvaluationOutput, GateOutput, RegistrationOutput } from "../pipelines/outputs";
import { outputOf, type StepDefinition } from "../pipelines/step";
import type { Clock } from "../ports";
import { type GateInput, judge } from "./gates";
import type { ModelVersion } from "./model";
import type { Registry } from "./registry";
import { recordGate } from "./transitions";

/** Holds the run's version against its thresholds and the champion of this moment; never reused, because the champion changes. */
export function gateStep(dependencies: {
  readonly registry: Registry;
  readonly clock: Clock;
}): StepDefinition<GateOutput> {
  const { registry, clock } = dependencies;
  return {
    step: "Gate",
    version: 1,
    reusable: false,
    inputs: (run, details) => ({
      registration: outputOf<RegistrationOutput>(details, "Register"),
      thresholds: run.job.evaluation.thresholds,
      tolerance: run.job.evaluation.regressionTolerance,
    }),
    async execute(run, details) {
      const { model, version } = outputOf<RegistrationOutput>(details, "Register");
      const { metrics } = outputOf<EvaluationOutput>(details, "Evaluate");
      const verdict = judge({
        metrics,
        thresholds: run.job.evaluation.thresholds,
        champion: await championFor(registry, await registry.version(model, version)),
        tolerance: run.job.evaluation.regressionTolerance,
        at: isoTime(clock),
      });
      await registry.apply(model, [version], recordGate(version, verdict, { by: `run ${run.runId}`, at: verdict.at }));
      const reasons = verdict.checks.filter((check) => !check.passed).map((check) => check.evidence);
      return { model, version, passed: verdict.passed, reasons };
    },
  };
}

async function championFor(registry: Registry, candidate: ModelVersion): Promise<GateInput["champion"]> {
  const head = await registry.repository.find(candidate.model);
  if (head?.production === undefined || head.production === candidate.version) return undefined;
  const champion = await registry.version(candidate.model, head.production);
  return {
    version: champion.version,
    metrics: champion.metrics,
    sameEvaluationSet: champion.dataset.digest === candidate.dataset.digest,
  };
}
