import type { TimeModel } from "../../evaluation/latency";
import { leadingMetrics, metricsOfTask } from "../../evaluation/metrics";
import { readReport, readSlicedPredictions } from "../../evaluation/stored-predictions";
import type { ObjectStore } from "../../ports";
import type { Artifacts } from "../../tracking/artifacts";
import { type LoggedMetricsPorts, loggedMetricsOf } from "../logged-metrics";
import type { ModelVersion } from "../model";
import type { ModelRepository } from "../repository";
import type { Candidate, RunOutputs } from "./candidate";
import { compareWithChampion, withMetrics } from "./champion-comparison";
import { type CandidateFacts, missingMetric } from "./judge";
import { type GateRequirements, needsSlices } from "./requirements";

export interface CandidatePorts extends LoggedMetricsPorts {
  readonly repository: Pick<ModelRepository, "findVersion">;
  readonly objects: ObjectStore;
  /** Files of the runs of versions that were made elsewhere. */
  readonly artifacts: Pick<Artifacts, "listAll">;
  readonly timeModel: TimeModel;
}

/**
 * Returns the facts about a candidate: from the outputs of its run, or from what was logged with it. Reads the predictions
 * of rows only if a gate needs them.
 *
 * @throws CHAMPION_CHANGED if its evaluation must have compared with the present champion, and has not
 */
export async function candidateFacts(
  ports: CandidatePorts,
  candidate: Candidate,
  requirements: GateRequirements,
): Promise<CandidateFacts> {
  const { version, outputs } = candidate;
  const { objects } = ports;
  const [sliced, compared] = await Promise.all([
    needsSlices(requirements) ? readSlices(objects, version) : noSlicesNeeded,
    compareWithChampion(ports, candidate),
  ]);
  const champion = compared && (await withMetrics(ports, compared, version, requirements.regression.metrics));
  const identity = `${version.evaluationReport?.sha256} ${version.weightsSha256}`;
  if (outputs) {
    const latency = requirements.latencyP99Ms === undefined ? undefined : await timedAgain(ports, outputs);
    return { ...measuredFacts(outputs), ...(latency ? { latency } : {}), sliced, identity, champion };
  }
  const bytes = requirements.artifactBytes === undefined ? undefined : await loggedBytes(ports.artifacts, version);
  const metrics = await loggedMetrics(ports, version);
  return {
    metrics,
    // Without predictions nothing is compared; the metric only names what the gate would compare.
    primaryMetric: loggedPrimary.find((name) => Object.hasOwn(metrics, name)) ?? "primary",
    missingMetric: () => "neither the version nor its run has a metric of that name; log it, and evaluate again",
    sliced,
    identity,
    ...(bytes === undefined ? {} : { artifactBytes: bytes }),
    lacking: "the version was registered from elsewhere; remove the gate, or declare a check of your own",
    champion,
  };
}

/** Returns the facts about a run's model that is not registered. It has no champion. */
export async function unregisteredFacts(
  objects: Pick<ObjectStore, "getContent">,
  outputs: RunOutputs,
  requirements: GateRequirements,
): Promise<CandidateFacts> {
  const { report } = outputs.evaluation;
  return {
    ...measuredFacts(outputs),
    sliced: needsSlices(requirements)
      ? await readSlicedPredictions(objects, await readReport(objects, report))
      : noSlicesNeeded,
    identity: `${report.sha256} ${outputs.training?.weightsSha256}`,
  };
}

/** Primary metrics of tasks, of which a logged version may have one. */
const loggedPrimary = ["auc", "accuracy", "rmse"];

/**
 * Measures the latency again, because the machine may have been busy at the evaluation. A model that was evaluated in a
 * job, on its worker's engine, keeps the job's measurement.
 */
async function timedAgain({ objects, timeModel }: CandidatePorts, { evaluation, training }: RunOutputs) {
  return training && evaluation.latency && evaluation.engine?.ran !== "job" ? timeModel(objects, training) : undefined;
}

/** Returns the facts that a run has measured. */
function measuredFacts({ evaluation: { metrics, latency, task }, training }: RunOutputs) {
  return {
    metrics,
    primaryMetric: leadingMetrics(task, metrics)[0] ?? metricsOfTask(task)[0],
    missingMetric: (metric: string) => missingMetric(metrics, metric),
    ...(latency ? { latency } : {}),
    ...(training ? { artifactBytes: training.weights.bytes + training.topology.bytes } : {}),
    lacking: "its evaluation did not measure it; submit its job again",
  };
}

const noSlicesNeeded: CandidateFacts["sliced"] = { reason: "no gate needs slices" };

async function readSlices(objects: ObjectStore, { evaluationReport }: ModelVersion): Promise<CandidateFacts["sliced"]> {
  if (!evaluationReport) {
    return {
      reason:
        "the version was not evaluated here, so there are no rows to slice; train it with a job, or remove the gate",
    };
  }
  const report = await readReport(objects, evaluationReport);
  const sliced = await readSlicedPredictions(objects, report);
  if (sliced.columns.length > 0 || report.slices.length === 0) return sliced;
  return { reason: "its evaluation did not record slices; submit its job again" };
}

/** Returns the metrics that were recorded with the version; those of its logged model and its run fill gaps. */
async function loggedMetrics(ports: LoggedMetricsPorts, version: ModelVersion): Promise<CandidateFacts["metrics"]> {
  return { ...(await loggedMetricsOf(ports, [version])).get(version.version), ...version.metrics };
}

/** Returns the size of all registered files; `undefined` if they are not stored here. */
async function loggedBytes(
  artifacts: CandidatePorts["artifacts"],
  { runId, loggedModelId, source }: ModelVersion,
): Promise<number | undefined> {
  const files =
    loggedModelId !== undefined
      ? await artifacts.listAll({ kind: "logged-model", modelId: loggedModelId }, "")
      : runId !== undefined
        ? await artifacts.listAll({ kind: "run", runId }, pathIn(source, runId))
        : [];
  return files.length === 0 ? undefined : files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/**
 * Returns the path of a source under its run's artifacts: `model` for `…/<runId>/artifacts/model` and for
 * `runs:/<runId>/model`.
 */
export function pathIn(source: string | undefined, runId: string): string {
  const [, after = ""] = (source ?? "").split(`${runId}/`);
  return after.replace(/^artifacts(\/|$)/, "").replace(/\/+$/, "");
}
