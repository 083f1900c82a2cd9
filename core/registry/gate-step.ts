import { isoTime } from "../clock";
import { sha256 } from "../digest";
import type { EvaluationOutput, GateOutput, RegistrationOutput } from "../pipelines/outputs";
import { outputOf, type StepDefinition } from "../pipelines/step";
import type { Clock } from "../ports";
import { ChampionChangedError } from "./errors";
import { type GateInput, judge } from "./gates";
import type { ModelVersion } from "./model";
import type { Registry } from "./registry";
import { recordGate } from "./transitions";

/**
 * Holds the run's version against its thresholds and the champion of this moment; never reused, because the champion changes.
 *
 * @throws ChampionChangedError where the evaluation met another champion: the state machine goes back to it.
 */
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
      evaluation: run.job.evaluation,
    }),
    async execute(run, details) {
      const { model, version } = outputOf<RegistrationOutput>(details, "Register");
      const { metrics, comparison } = outputOf<EvaluationOutput>(details, "Evaluate");
      const { thresholds, regressionTolerance, regressionRule, incompatibleChampion } = run.job.evaluation;
      const verdict = judge({
        metrics,
        thresholds,
        champion: await championFor(registry, await registry.version(model, version), comparison),
        tolerance: regressionTolerance,
        // Runs from before these were asked for lack them.
        regressionRule: regressionRule ?? "credible",
        incompatibleChampion: incompatibleChampion ?? "refuse",
        at: isoTime(clock),
      });
      const by = { by: `run ${run.runId}`, at: verdict.at };
      // Once: a repetition after the approval would take the approval away.
      const { at: _at, ...findings } = verdict;
      const { productionRevision } = await registry.head(model);
      const request = `gate#${run.runId}#${productionRevision ?? 0}#${sha256(JSON.stringify(findings))}`;
      await registry.apply(model, [version], recordGate(version, verdict, by), request);
      const reasons = verdict.checks.filter((check) => !check.passed).map((check) => check.evidence);
      return { model, version, passed: verdict.passed, reasons };
    },
  };
}

async function championFor(
  registry: Registry,
  candidate: ModelVersion,
  comparison: EvaluationOutput["comparison"],
): Promise<GateInput["champion"]> {
  const head = await registry.repository.find(candidate.model);
  if (head?.production === undefined || head.production === candidate.version) return undefined;
  const champion = await registry.version(candidate.model, head.production);
  const { version } = champion;
  if (champion.artifactKey === undefined) {
    const reasons = ["it was registered from elsewhere and has no artifact here to evaluate"];
    return { version, comparison: { kind: "incompatible", champion: version, reasons } };
  }
  if (champion.weightsSha256 === candidate.weightsSha256) return { version, comparison: "same" };
  if (comparison?.champion !== version) throw new ChampionChangedError(candidate.model, comparison?.champion, version);
  return { version, comparison };
}
