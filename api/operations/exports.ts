import * as z from "zod";
import { exportFormats } from "../../core/evaluation/model-artifact";
import { exportManifest } from "../export/shapes";
import { operationsFor, response } from "../operation";
import { nameText, versionNumber } from "../schemas/common";

const operation = operationsFor("Models");
const params = z.strictObject({ name: nameText, version: versionNumber });
export const createExport = operation("createExport", "POST /models/{name}/versions/{version}/exports", {
  summary: "Export a version as ONNX, SavedModel, TensorFlow.js, safetensors or an MLflow model",
  description:
    "Creates the files, or returns the existing ones: they are a function of the version. Each file that computes is run and compared with the platform's own " +
    "predictor; one that differs by more than 1e-5 is not kept. The graph of a SavedModel is run as ONNX. " +
    "Download them by `GET /contents/{sha256}`; they are also among the run's artifacts, under `exports/`.",
  params,
  body: z.strictObject({ format: z.enum(exportFormats) }).meta({ id: "ExportRequest" }),
  bodyExample: { format: "onnx" },
  idempotent: true,
  class: "heavy",
  responses: {
    200: response("The export.", z.object({ export: exportManifest }).meta({ id: "ExportAnswer" })),
  },
  errors: [
    "MODEL_NOT_FOUND",
    "MODEL_VERSION_NOT_FOUND",
    "NOTHING_TO_EXPORT",
    "EXPORT_TOO_LARGE",
    "EXPORT_UNSUPPORTED",
    "EXPORT_DIFFERS",
    "CORRUPT_OBJECT",
  ],
});

export const listExports = operation("listExports", "GET /models/{name}/versions/{version}/exports", {
  summary: "List the existing exports of a version",
  params,
  responses: {
    200: response("One a format, at most.", z.object({ exports: z.array(exportManifest) }).meta({ id: "ExportList" })),
  },
  errors: ["MODEL_NOT_FOUND", "MODEL_VERSION_NOT_FOUND"],
});
