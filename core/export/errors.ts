import { RingmasterError } from "../errors";
import type { StepKind } from "../views/shapes";

/**
 * Thrown when a version was logged from elsewhere, or its artifact cannot be read, so that there is nothing to export.
 */
export class NothingToExportError extends RingmasterError {
  constructor(what: string, cause?: unknown) {
    super(`${what}; an export needs a version that a training run registered, with all its files in the store`, {
      code: "NOTHING_TO_EXPORT",
      httpStatus: 409,
      cause,
    });
  }
}

/** Thrown when ONNX lacks the function of a plan's step. */
export class UnsupportedStepError extends RingmasterError {
  constructor(feature: string, kind: StepKind) {
    super(
      `the feature '${feature}' (${kind}) cannot be exported to ONNX or as a SavedModel: ONNX has no such function of texts; export the formats tfjs or safetensors, which take any plan`,
      { code: "EXPORT_UNSUPPORTED", httpStatus: 409, details: { feature, kind } },
    );
  }
}

/** Thrown when the format cannot express a layer, or the exporter does not support it. */
export class UnsupportedLayerError extends RingmasterError {
  constructor(layer: { readonly name: string; readonly className: string }, why: string) {
    super(
      `the layer '${layer.name}' (${layer.className}) cannot be exported to ONNX or as a SavedModel: ${why}; export the format safetensors, which takes any layer, or tfjs, which takes TensorFlow.js's own`,
      { code: "EXPORT_UNSUPPORTED", httpStatus: 409, details: { layer: layer.name, className: layer.className } },
    );
  }
}

/** Thrown when stock TensorFlow.js lacks a layer's class, so that it could not load the file. */
export class NotInTensorFlowJsError extends RingmasterError {
  constructor({ name, className }: { readonly name: string; readonly className: string }) {
    super(
      `the layer '${name}' (${className}) cannot be exported for TensorFlow.js: the layer is the platform's own, and stock TensorFlow.js cannot load it; export the formats onnx, savedmodel or safetensors`,
      { code: "EXPORT_UNSUPPORTED", httpStatus: 409, details: { layer: name, className } },
    );
  }
}

/** Thrown when an operator of a network's ONNX graph cannot be written to a SavedModel. */
export class UnsupportedOperatorError extends RingmasterError {
  constructor(operator: string, why: string) {
    super(
      `the operator ${operator} cannot be exported as a SavedModel: ${why}; export the formats onnx, tfjs and safetensors`,
      { code: "EXPORT_UNSUPPORTED", httpStatus: 409, details: { operator } },
    );
  }
}

/** Thrown when the runtime that checks exported files rejects one. */
export class ExportRefusedError extends RingmasterError {
  constructor(reason: string) {
    super(
      `onnxruntime cannot run the exported file: ${reason}; the file was discarded; please report the model's layers`,
      {
        code: "EXPORT_DIFFERS",
        httpStatus: 409,
        details: { reason },
      },
    );
  }
}

/** Thrown when an exported file's predictions differ from the platform's. */
export class ExportParityError extends RingmasterError {
  constructor(file: string, difference: number, tolerance: number, row: number) {
    super(
      `${file} differs from the platform's own prediction by ${difference} in row ${row} of the check, and at most ${tolerance} is allowed; the file was discarded; please report the model's layers`,
      { code: "EXPORT_DIFFERS", httpStatus: 409, details: { file, difference: String(difference), tolerance, row } },
    );
  }
}

/** Thrown when the model is too large. An export is made in a function's memory while the caller waits. */
export class ExportTooLargeError extends RingmasterError {
  constructor(bytes: number, limit: number) {
    super(
      `the model's weights are ${bytes} bytes, and an export can have at most ${limit}; download the stored weights, which are in the safetensors format: \`GET /contents/{sha256}\``,
      { code: "EXPORT_TOO_LARGE", httpStatus: 409, details: { bytes, limit } },
    );
  }
}
