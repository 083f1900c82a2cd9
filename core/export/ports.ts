import type { RowPredictor } from "../evaluation/predict";
import type { Task } from "../runs/model-definition";
import type { Network } from "./network";

export type OnnxData = Float32Array | Float64Array | BigInt64Array | Uint8Array | readonly string[];

export interface OnnxTensor {
  readonly data: OnnxData;
  readonly dims: readonly number[];
}
export type OnnxInput = OnnxTensor & { readonly type: "float" | "double" | "string" };

/** Runs ONNX files, by an implementation that is not ours. */
export interface OnnxRuntime {
  /** @returns the outputs by name. */
  run(file: Uint8Array, inputs: Readonly<Record<string, OnnxInput>>): Promise<Readonly<Record<string, OnnxTensor>>>;
  close(): Promise<void>;
}

/** A model's own files, as training left them. */
export interface TrainedFiles {
  /** `topology.json`. */
  readonly topology: string;
  /** safetensors. */
  readonly weights: Uint8Array;
}

/** A trained model, loaded: what it computes, and what it is made of. */
export interface ExportableModel extends RowPredictor {
  readonly network: Network;
  /** All weights, in TensorFlow.js's order and by its names: `dense_1/kernel`. */
  readonly weights: readonly {
    readonly name: string;
    readonly shape: readonly number[];
    readonly data: Float32Array;
  }[];
  dispose(): void;
}

/** What exports are made and checked with. */
export interface ExportTools {
  loadModel(files: TrainedFiles): Promise<ExportableModel>;
  startOnnxRuntime(): OnnxRuntime;
  /** Loads a TensorFlow.js layers model as stock TensorFlow.js does. @returns probabilities or values, as a predictor does */
  runLayersModel(
    files: { readonly modelJson: string; readonly weights: Uint8Array; readonly task: Task },
    inputs: Float32Array,
    rows: number,
  ): Promise<Float32Array>;
}
