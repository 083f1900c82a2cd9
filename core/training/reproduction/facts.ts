import type { FeaturesOutput } from "../../features/materialize";
import { decidingHyperparameters } from "../../runs/hyperparameters";
import { withoutLaterOptions } from "../../runs/job";
import type { NumericsRecord, RunDetails } from "../../runs/shapes";
import { findOutput } from "../../runs/step";
import type { TrainingOutput } from "../../runs/training-task";
import { paramsOfJob } from "../../tracking/records/training-record";

/** Everything that determines a run's weights, and the result. */
export interface TrainingFacts {
  readonly runId: string;
  /** The code as it was submitted. */
  readonly code: Readonly<Record<string, string>>;
  readonly data: Readonly<Record<string, string>>;
  /** The job's leaves that determine the weights; workers, market and the like do not. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Present once the run has trained. */
  readonly trained?: {
    readonly weightsSha256: string;
    readonly steps: number;
    readonly numerics: NumericsRecord;
    /** Fields of the numerics that changed during training. */
    readonly otherNumerics: readonly string[];
    /** The run that has the metrics and checkpoints of this training. */
    readonly by: string;
  };
}

/** Parameters that determine how a run is executed, or how its weights are used. */
const conduct =
  /^(experiment|registerAs|dataset|notes|retries|fineTune\.from$|tags\.|evaluation\.|checkpoint\.|resources\.(?!microshards$|backend$|vcpusPerWorker$|gpusPerWorker$|gpu\.class$|tf32$)|model\.(path|sha256)$)/;

export function factsOf(details: RunDetails): TrainingFacts {
  const { run, steps } = details;
  const { commit, dirty, diffSha256, moduleSha256 } = run.code;
  const { lockfileSha256, image, imageDigest } = run.environment ?? {};
  const training = findOutput<TrainingOutput>(details, "LaunchTraining");
  const reusedFrom = steps.find(({ step }) => step === "LaunchTraining")?.reusedFrom;
  // Options that did not exist when a run was recorded have their defaults.
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
      fineTunedFrom: run.fineTunedFrom?.weightsSha256,
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
