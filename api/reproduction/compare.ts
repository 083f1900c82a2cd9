import { featuresKind } from "../../core/features/shapes";
import { numericsDifferences } from "../../core/runs/numerics";
import { isOpen } from "../../core/runs/run-states";
import type { NumericsRecord, RunDetails } from "../../core/runs/shapes";
import { findOutput } from "../../core/runs/step";
import { trainingKind } from "../../core/runs/training-task";
import { paramsOfJob } from "../../core/tracking/records/training-record";
import type { Agreement, Reproduction, ReproductionDifference } from "./shapes";

/** Compares a run with any other. `walk` finds where two trainings diverge, if their weights differ. */
export async function compareRuns(
  reproduction: RunDetails,
  original: RunDetails,
  walk: (original: TrainingFacts, reproduction: TrainingFacts) => Promise<Agreement>,
): Promise<Reproduction> {
  const [ours, theirs] = [factsOf(reproduction), factsOf(original)];
  const differences = differencesOf(theirs, ours);
  const comparison = {
    runId: ours.runId,
    of: theirs.runId,
    differences,
    originalSha256: theirs.trained?.weightsSha256,
    reproductionSha256: ours.trained?.weightsSha256,
  };
  const without = [reproduction, original].find((details) => !factsOf(details).trained);
  if (without) {
    const { runId, status, failure } = without.run;
    const verdict = isOpen(status) || status === "paused" ? "pending" : "failed";
    const why = failure ? `: ${failure.code}: ${failure.message}` : "";
    const explanation =
      verdict === "pending" ? `${runId} has not finished training` : `${runId} is ${status} without weights${why}`;
    return { ...comparison, verdict, explanation };
  }
  if (comparison.originalSha256 === comparison.reproductionSha256) {
    const explanation = `the weights are identical${differences.length > 0 ? `, although ${differences.map(({ field }) => field).join(", ")} differ` : ""}`;
    return { ...comparison, verdict: "identical", explanation };
  }
  const agreement = await walk(theirs, ours);
  return { ...comparison, verdict: "different", agreement, explanation: explain(differences, agreement) };
}

function differencesOf(original: TrainingFacts, reproduction: TrainingFacts): readonly ReproductionDifference[] {
  const between = (kind: "code" | "data" | "parameters"): readonly ReproductionDifference[] => {
    const [left, right] = [original[kind], reproduction[kind]];
    return [...new Set([...Object.keys(left), ...Object.keys(right)])]
      .filter((field) => left[field] !== right[field])
      .map((field) => ({ kind, field, original: left[field] ?? "absent", reproduction: right[field] ?? "absent" }));
  };
  const [left, right] = [original.trained, reproduction.trained];
  const numerics = left && right ? numericsDifferences(left.numerics, right.numerics) : [];
  const changed = (facts: TrainingFacts): string => facts.trained?.otherNumerics.join(", ") || "none";
  return [
    ...between("code"),
    ...between("data"),
    ...between("parameters"),
    ...numerics.map((each) => ({
      kind: "numerics" as const,
      field: each.field,
      original: each.left,
      reproduction: each.right,
    })),
    ...(left && right && changed(original) !== changed(reproduction)
      ? [
          {
            kind: "numerics" as const,
            field: "changed on the way",
            original: changed(original),
            reproduction: changed(reproduction),
          },
        ]
      : []),
  ];
}

function explain(differences: readonly ReproductionDifference[], { steps, first }: Agreement): string {
  const where =
    first === undefined
      ? `their recorded values are equal in all ${steps} common steps`
      : first.by === "metric"
        ? `${first.metric} first differs at step ${first.step}: ${first.original} in the original, ${first.reproduction} in the reproduction`
        : `their checkpoints differ from step ${first.step} on`;
  const [cause, ...others] = differences;
  const why = cause
    ? `likeliest cause, in ${cause.kind}: ${cause.field} is ${cause.original} in the original and ${cause.reproduction} in the reproduction` +
      (others.length > 0 ? ` (and ${others.length} more)` : "")
    : "code, data, parameters and numerics are equal, so the computation is not deterministic or data is damaged; please report both runs";
  return `the weights differ: ${where}; ${why}`;
}

/** Everything that determines a run's weights, and the result. */
export interface TrainingFacts {
  readonly runId: string;
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
  /^(experiment|registerAs|dataset|notes|retries|fineTune\.from$|tags\.|evaluation\.|checkpoint\.|resources\.(?!microBatches$|backend$|vcpusPerWorker$|gpusPerWorker$|gpu\.class$|tf32$)|model\.(path|sha256)$)/;

function factsOf(details: RunDetails): TrainingFacts {
  const { run, steps } = details;
  const { commit, dirty, diffSha256, moduleSha256 } = run.code;
  const { lockfileSha256, image, imageDigest } = run.environment ?? {};
  const training = findOutput(details, trainingKind);
  const reusedFrom = steps.find(({ step }) => step === "LaunchTraining")?.reusedFrom;
  const parameters = Object.entries(paramsOfJob(run.job)).filter(([name]) => !conduct.test(name));
  return {
    runId: run.runId,
    code: texts({ moduleSha256, commit, dirty, diffSha256, lockfileSha256, image, imageDigest }),
    data: texts({
      dataset: `${run.dataset.name}@${run.dataset.version}`,
      datasetDigest: run.dataset.digest,
      features: findOutput(details, featuresKind)?.digest,
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
