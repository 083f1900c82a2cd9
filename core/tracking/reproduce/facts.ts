import type { FeaturesOutput, TrainingOutput } from "../../pipelines/outputs";
import { findOutput } from "../../pipelines/step";
import { decidingHyperparameters } from "../../training/hyperparameters";
import { withoutLaterOptions } from "../../training/job-identity";
import type { NumericsRecord } from "../../training/numerics";
import type { RunDetails } from "../../training/run";
import { paramsOfJob } from "../records/job-params";

/** What decides a run's weights, and what came of it. */
export interface TrainingFacts {
  readonly runId: string;
  /** Of the code, as it was submitted. */
  readonly code: Readonly<Record<string, string>>;
  readonly data: Readonly<Record<string, string>>;
  /** The job's leaves that decide weights; workers, market and the like do not. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Once it has trained. */
  readonly trained?: {
    readonly weightsSha256: string;
    readonly steps: number;
    readonly numerics: NumericsRecord;
    /** Fields of the numerics that changed on the way. */
    readonly otherNumerics: readonly string[];
    /** The run whose metrics and checkpoints tell of this training. */
    readonly by: string;
  };
}

/** Parameters that say how a run is conducted, or what is made of its weights. */
const conduct =
  /^(experiment|registerAs|dataset|notes|retries|tags\.|evaluation\.|checkpoint\.|resources\.(?!microshards$|backend$|vcpusPerWorker$|gpusPerWorker$|tf32$)|model\.(path|sha256)$)/;

export function factsOf(details: RunDetails): TrainingFacts {
  const { run, steps } = details;
  const { commit, dirty, diffSha256, moduleSha256 } = run.code;
  const { lockfileSha256, image, imageDigest } = run.environment ?? {};
  const training = findOutput<TrainingOutput>(details, "LaunchTraining");
  const reusedFrom = steps.find(({ step }) => step === "LaunchTraining")?.reusedFrom;
  // A run that was recorded before an option existed equals one that has its default.
  const hyperparameters = decidingHyperparameters(run.job.hyperparameters);
  const job = { ...withoutLaterOptions(run.job), hyperparameters };
  const parameters = Object.entries(paramsOfJob(job)).filter(([name]) => !conduct.test(name));
  return {
    runId: run.runId,
    code: texts({ moduleSha256, commit, dirty, diffSha256, lockfileSha256, image, imageDigest }),
    data: texts({
      dataset: `${run.dataset.name}@${run.dataset.version}`,
      datasetDigest: run.dataset.digest,
      features: findOutput<FeaturesOutput>(details, "PrepareFeatures")?.digest,
      restoredFrom: run.restoredFrom && `${run.restoredFrom.runId} at step ${run.restoredFrom.step}`,
    }),
    parameters: Object.fromEntries(parameters),
    ...(training
      ? {
          trained: {
            weightsSha256: training.weightsSha256,
            steps: training.steps,
            numerics: training.numerics,
            otherNumerics: training.otherNumerics ?? [],
            by: reusedFrom ?? run.runId,
          },
        }
      : {}),
  };
}

function texts(values: Readonly<Record<string, string | boolean | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const])),
  );
}
