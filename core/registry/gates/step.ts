import { evaluationKind } from "../../evaluation/shapes";
import { evaluationIdentity } from "../../evaluation/step";
import type { StepCache } from "../../runs/run-repository";
import type { Run, RunDetails } from "../../runs/shapes";
import { findCached, findOutput, inputHashOf, outputOf, type StepDefinition } from "../../runs/step";
import { trainingKind } from "../../runs/training-task";
import { championChanged } from "../errors";
import { type RegistrationOutput, registrationKind } from "../model";
import { findChampion, type RunOutputs } from "./candidate";
import { isPending } from "./external-check";
import { findingsDigest, type JudgeDependencies, verdictOn } from "./judge-version";
import { recordVerdict } from "./transitions";
import { type GateOutput, gateKind } from "./verdict";

/**
 * Judges the run's version by its gates and the present champion. Never reused, because champion and policy change.
 * @throws CHAMPION_CHANGED if the evaluation compared with another champion; the state machine returns to it
 */
export function gateStep(dependencies: JudgeDependencies): StepDefinition<GateOutput> {
  return {
    ...gateKind,
    version: 2,
    reusable: false,
    inputs: (run, details) => ({
      registration: outputOf(details, registrationKind),
      evaluation: run.job.evaluation,
    }),
    async execute(run, details) {
      const target = outputOf(details, registrationKind);
      return judgeOf(dependencies, run, target, {
        job: run.job,
        evaluation: outputOf(details, evaluationKind),
        training: findOutput(details, trainingKind),
      });
    },
  };
}

/**
 * Judges a version that waits for an approval after its run's end, by the evaluation next to the present champion.
 * @throws CHAMPION_CHANGED if there is no such evaluation; the state machine then makes it
 */
export async function judgeAgain(
  dependencies: JudgeDependencies & { readonly cache: Pick<StepCache, "find"> },
  details: RunDetails,
  target: RegistrationOutput,
): Promise<GateOutput> {
  const champion = await findChampion(dependencies, target.model);
  const cachedStep = await findCached(
    dependencies.cache,
    evaluationKind,
    inputHashOf(evaluationIdentity(champion), details),
  );
  if (!cachedStep) throw championChanged(target.model, undefined, champion?.version ?? 0);
  return judgeOf(dependencies, details.run, target, {
    job: details.run.job,
    evaluation: cachedStep.output,
    training: findOutput(details, trainingKind),
  });
}

async function judgeOf(
  dependencies: JudgeDependencies,
  run: Run,
  { model, version }: RegistrationOutput,
  outputs: RunOutputs,
): Promise<GateOutput> {
  const { registry } = dependencies;
  const { verdict, model: head } = await verdictOn(dependencies, model, version, outputs);
  // Recorded once: a repetition after the approval would withdraw the approval.
  const request = `gate#${run.runId}#${head.productionRevision ?? 0}#${findingsDigest(verdict)}`;
  const actor = { by: `run ${run.runId}`, at: verdict.at };
  await registry.apply(model, [version], recordVerdict(version, verdict, actor), request);
  // Includes answers that arrived in between, or before a repetition.
  const recorded = (await registry.version(model, version)).gate ?? verdict;
  const reasons = recorded.checks.filter((check) => !check.passed).map((check) => check.evidence);
  const pending = isPending(recorded);
  return { model, version, passed: recorded.passed, ...(pending ? { pending } : {}), reasons };
}
