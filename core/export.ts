import { conflict } from "./errors";
import type { ModelArtifact } from "./evaluation/model-artifact";
import type { RowPredictor } from "./evaluation/predict";
import type { StepKind } from "./feature-plans/shapes";
import type { RawRow } from "./features/transform";
import type { Task } from "./runs/model-definition";

export type OnnxData = Float32Array | Float64Array | BigInt64Array | Uint8Array | readonly string[];

export interface OnnxTensor {
  readonly data: OnnxData;
  readonly dims: readonly number[];
}

export type OnnxInput = OnnxTensor & { readonly type: "float" | "double" | "string" };

export interface OnnxRuntime {
  run(file: Uint8Array, inputs: Readonly<Record<string, OnnxInput>>): Promise<Readonly<Record<string, OnnxTensor>>>;
  close(): Promise<void>;
}

interface TrainedFiles {
  /** Content of `topology.json`. */
  readonly topology: string;
  /** Weights as safetensors. */
  readonly weights: Uint8Array;
}

export interface ExportableModel extends RowPredictor {
  readonly network: Network;
  /** Layers that stock TensorFlow.js lacks. */
  readonly ownLayers: readonly { readonly name: string; readonly className: string }[];
  /** All weights, in TensorFlow.js's order and with its names: `dense_1/kernel`. */
  readonly weights: readonly {
    readonly name: string;
    readonly shape: readonly number[];
    readonly data: Float32Array;
  }[];
  dispose(): void;
}

export interface ExportTools {
  loadModel(files: TrainedFiles): Promise<ExportableModel>;
  startOnnxRuntime(): OnnxRuntime;
  /** Runs a layers model with stock TensorFlow.js. @returns probabilities or values, like a predictor */
  runLayersModel(
    files: { readonly modelJson: string; readonly weights: Uint8Array; readonly task: Task },
    inputs: Float32Array,
    rows: number,
  ): Promise<Float32Array>;
}

/**
 * A network for exporters: layers in the order of computation, with nested models expanded, each with its shapes and
 * weights. The last layer's output is logits or values.
 */
export interface Network {
  /** Shape of one row of the input. */
  readonly inputShape: readonly number[];
  readonly input: string;
  readonly output: string;
  readonly layers: readonly NetworkLayer[];
}

export interface NetworkLayer {
  /** Id of this application of the layer. A layer that is applied twice appears twice. */
  readonly id: string;
  readonly name: string;
  /** TensorFlow.js's class name: `Conv2D`. */
  readonly className: string;
  /** TensorFlow.js's configuration, in camel case. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Ids of layers, or the network's input. */
  readonly inputs: readonly string[];
  /** Shape of one row. */
  readonly outputShape: readonly number[];
  /**
   * Weights by the last part of their names: `kernel`, `moving_mean`. Those of a Bidirectional are `forward_kernel`,
   * `backward_kernel`, ….
   */
  readonly weights: Readonly<Record<string, NetworkWeight>>;
}

export interface NetworkWeight {
  /** Name in the whole model: `dense_1/kernel`. */
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

export interface ExportSource {
  readonly artifact: ModelArtifact;
  readonly files: TrainedFiles;
  readonly model: ExportableModel;
  /** Rows with which every file is checked, and the platform's predictions for them. */
  readonly check: CheckRows;
  readonly tools: ExportTools;
}

/** Raw rows, their dense inputs `[rows, width]`, and the predictions: probabilities or values, `[rows, outputs]`. */
export interface CheckRows {
  readonly rows: readonly RawRow[];
  readonly dense: Float32Array;
  readonly predicted: Float32Array;
}

export interface ExportedFile {
  /** Relative to the export's directory. */
  readonly path: string;
  readonly contentType: string;
  readonly body: Uint8Array | string;
  /** The largest difference that the check found, if the file was run. */
  readonly difference?: number;
}

/** Creates a format's files and runs those that can be run. A function of its source. */
export type Exporter = (source: ExportSource) => Promise<readonly ExportedFile[]>;

export const nothingToExport = (what: string, cause?: unknown) =>
  conflict(
    "NOTHING_TO_EXPORT",
    `${what}; an export needs a version that a training run registered, with all its files in the store`,
    undefined,
    cause,
  );

export const noPlan = (model: string) =>
  conflict(
    "EXPORT_UNSUPPORTED",
    `the model ${model} has no plan that SQL could compute; train it with features.plan (docs/features.md has the default as a plan)`,
  );

export const unsupportedStep = (feature: string, kind: StepKind) =>
  conflict(
    "EXPORT_UNSUPPORTED",
    `the feature '${feature}' (${kind}) cannot be exported to ONNX or as a SavedModel: ONNX has no such function of texts; export the formats tfjs, safetensors or sql, which take any plan`,
    { feature, kind },
  );

export const unsupportedLayer = (layer: { readonly name: string; readonly className: string }, why: string) =>
  conflict(
    "EXPORT_UNSUPPORTED",
    `the layer '${layer.name}' (${layer.className}) cannot be exported to ONNX or as a SavedModel: ${why}; export the format safetensors, which takes any layer, or tfjs, which takes TensorFlow.js's own`,
    { layer: layer.name, className: layer.className },
  );

export const notInTensorFlowJs = ({ name, className }: { readonly name: string; readonly className: string }) =>
  conflict(
    "EXPORT_UNSUPPORTED",
    `the layer '${name}' (${className}) cannot be exported for TensorFlow.js: the platform completes what stock TensorFlow.js lacks for it; export the formats onnx, savedmodel or safetensors`,
    { layer: name, className },
  );

export const unsupportedOperator = (operator: string, why: string) =>
  conflict(
    "EXPORT_UNSUPPORTED",
    `the operator ${operator} cannot be exported as a SavedModel: ${why}; export the formats onnx, tfjs and safetensors`,
    { operator },
  );

export const unpredictableRows = (cause: RangeError) =>
  conflict(
    "EXPORT_UNSUPPORTED",
    `the model cannot predict the rows with which an export is checked: ${cause.message}; give the columns of ids a minimum and a maximum in the dataset's schema, and train again`,
    { reason: cause.message },
    cause,
  );

export const exportRefused = (reason: string) =>
  conflict(
    "EXPORT_DIFFERS",
    `onnxruntime cannot run the exported file: ${reason}; the file was discarded; please report the model's layers`,
    { reason },
  );

export const exportParity = (file: string, difference: number, tolerance: number, row: number) =>
  conflict(
    "EXPORT_DIFFERS",
    `${file} differs from the platform's own prediction by ${difference} in row ${row} of the check, and at most ${tolerance} is allowed; the file was discarded; please report the model's layers`,
    { file, difference: String(difference), tolerance, row },
  );

export const exportTooLarge = (bytes: number, limit: number) =>
  conflict(
    "EXPORT_TOO_LARGE",
    `the model's weights are ${bytes} bytes, and an export can have at most ${limit}; download the stored weights, which are in the safetensors format: \`GET /contents/{sha256}\``,
    { bytes, limit },
  );
