// The method forms of operations, such as `outputs.sub(labels)`: the engine registers them.
/// <reference types="@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops" preserve="true" />

/** What a user's training module imports as `ringmaster`. */
export type { Rank, Scalar, Tensor, Tensor1D, Tensor2D } from "@tensorflow/tfjs-core";
export type { LayersModel, Sequential, SymbolicTensor } from "@tensorflow/tfjs-layers";
export type { Task } from "../core/runs/model-definition";
export {
  defineTraining,
  type LossFunction,
  type ModelContext,
  type TensorFlow,
  type Training,
} from "./engine/define-training";
