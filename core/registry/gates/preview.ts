import { readReport, readSlicedPredictions } from "../../evaluation/stored-predictions";
import type { ObjectStore } from "../../ports";
import { rulesOf } from "../policy";
import { judge } from "./judge";
import { combine } from "./requirements";
import { type MadeByRun, missingMetric } from "./subject";
import type { GateVerdict } from "./verdict";

/**
 * Judges a run by the gates of its own job, as if it were a model's first version. A run that registers no model has
 * neither a champion nor a policy.
 */
export async function previewGates(
  objects: Pick<ObjectStore, "getContent">,
  { job, evaluation, training }: MadeByRun,
  at: string,
): Promise<GateVerdict> {
  const requirements = combine(job.evaluation, rulesOf({}));
  const needsSlices = requirements.slices.length + requirements.fairness.length > 0;
  const { metrics, latency, report } = evaluation;
  const subject = {
    metrics,
    missingMetric: (metric: string) => missingMetric(metrics, metric),
    sliced: needsSlices
      ? await readSlicedPredictions(objects, await readReport(objects, report))
      : { reason: "no gate needs slices" },
    identity: `${report.sha256} ${training?.weightsSha256}`,
    ...(latency ? { latency } : {}),
    ...(training ? { artifactBytes: training.weights.bytes + training.topology.bytes } : {}),
    lacking: "its evaluation did not measure it; submit its job again",
  };
  return judge(requirements, subject, () => ({ unanswered: "checks run once the model is registered" }), at);
}
