import type { RowPredictor } from "../evaluation/predict";
import type { Task } from "../runs/model-definition";
import type { Network } from "./network";

export type OnnxData = Float32Array | Float64Array | BigInt64Array | Uint8Array | readonly string[];

export interface OnnxTensor {
  readonly data: OnnxData;
  readonly dims: readonly number[];
}
export type OnnxInput = OnnxTensor & { readonly type: "float" | "double" | "string" };

/** Runs ONNX files with an independent implementation. */
export interface OnnxRuntime {
  /** @returns the outputs by name */
  run(file: Uint8Array, inputs: Readonly<Record<string, OnnxInput>>): Promise<Readonly<Record<string, OnnxTensor>>>;
  close(): Promise<void>;
}

/** The files of a trained model. */
export interface TrainedFiles {
  /** Content of `topology.json`. */
  readonly topology: string;
  /** Weights as safetensors. */
  readonly weights: Uint8Array;
}

/** A trained model, loaded, with its layers and weights. */
export interface ExportableModel extends RowPredictor {
  readonly network: Network;
  /** All weights, in TensorFlow.js's order and with its names: `dense_1/kernel`. */
  readonly weights: readonly {
    readonly name: string;
    readonly shape: readonly number[];
    readonly data: Float32Array;
  }[];
  dispose(): void;
}

/** The tools that create and check exports. */
export interface ExportTools {
  loadModel(files: TrainedFiles): Promise<ExportableModel>;
  startOnnxRuntime(): OnnxRuntime;
  /**
   * Runs a TensorFlow.js layers model with stock TensorFlow.js.
   *
   * @returns probabilities or values, like a predictor
   */
  runLayersModel(
    files: { readonly modelJson: string; readonly weights: Uint8Array; readonly task: Task },
    inputs: Float32Array,
    rows: number,
  ): Promise<Float32Array>;
}
