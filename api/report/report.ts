import * as z from "zod";
import type { ModelArtifact } from "../../core/evaluation/model-artifact";
import { type EvaluationReport, readReport } from "../../core/evaluation/report";
import { latency } from "../../core/evaluation/shapes";
import { readPredictions } from "../../core/evaluation/stored-predictions";
import { type DocumentKind, getJsonContent } from "../../core/object-documents";
import type { ObjectStore } from "../../core/ports";
import { withdrawal } from "../../core/registry/approvals";
import { readArtifact } from "../../core/registry/artifact";
import { type GateCheck, type GateVerdict, gateVerdict } from "../../core/registry/gates/verdict";
import type { ModelVersion } from "../../core/registry/model";
import type { Shape } from "../../core/shapes";
import type { VersionReport } from "./shapes";
import { calibrationOf } from "./shown-evaluation";

const verdictSchema = z.object({ checks: gateVerdict.shape.checks, latency: latency.optional() });
/** The document that `verdictOn` stores with the verdict. */
const verdictDocument: DocumentKind<Shape<typeof verdictSchema>> = {
  name: "a verdict",
  schema: verdictSchema,
  maxBytes: 2 ** 28,
};

export async function versionReport(objects: ObjectStore, version: ModelVersion): Promise<VersionReport> {
  const { gate, evaluationReport } = version;
  const [document, evaluation, artifact] = await Promise.all([
    gate?.document && getJsonContent(objects, gate.document.sha256, verdictDocument),
    evaluationReport && evaluationOf(objects, await readReport(objects, evaluationReport)),
    readArtifact(objects, version),
  ]);
  return {
    model: version.model,
    version: version.version,
    stage: version.stage,
    runId: version.runId,
    dataset: version.dataset,
    createdAt: version.createdAt,
    metrics: version.metrics,
    ...(gate ? { gate: withAllSlices(gate, document?.checks ?? []) } : {}),
    approvals: version.approvals.length === 0 && version.approval ? [version.approval] : version.approvals,
    ...(version.approvalsWithdrawn ? { approvalsWithdrawn: withdrawal(version.approvalsWithdrawn) } : {}),
    ...(artifact ? { files: filesOf(artifact) } : {}),
    ...(document?.latency ? { latency: document.latency } : {}),
    evaluation,
  };
}

/** The row has only the slices that decide, but also later answers; the document has all slices. */
function withAllSlices(gate: GateVerdict, whole: readonly GateCheck[]): GateVerdict {
  return {
    ...gate,
    checks: gate.checks.map((check, at) => {
      const slices = whole[at]?.gate === check.gate ? whole[at]?.slices : undefined;
      return slices ? { ...check, slices } : check;
    }),
  };
}

function filesOf({ weights, topology }: ModelArtifact): NonNullable<VersionReport["files"]> {
  return [
    { name: "weights.safetensors", ...weights },
    { name: "topology.json", ...topology },
  ];
}

async function evaluationOf(
  objects: ObjectStore,
  report: EvaluationReport,
): Promise<NonNullable<VersionReport["evaluation"]>> {
  const { rows, label, classes, confusionMatrix, slices, task, importance } = report;
  const calibration = classes && calibrationOf((await readPredictions(objects, report)).predictions);
  return {
    rows,
    label,
    classes,
    confusionMatrix,
    task,
    slices,
    importance,
    calibration,
  };
}
