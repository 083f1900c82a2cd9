// The engine registers the method forms of operations, such as `outputs.sub(labels)`.
/// <reference types="@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops" preserve="true" />

/** The exports that a user's training module imports from `ringmaster`. */
export type { Rank, Scalar, Tensor, Tensor1D, Tensor2D } from "@tensorflow/tfjs-core";
export type { LayersModel, Sequential, SymbolicTensor } from "@tensorflow/tfjs-layers";
export { type AddedStep, definePipeline, expression, type Input, type Reference } from "../core/pipelines/define";
export type { Task } from "../core/runs/model-definition";
export {
  defineTraining,
  type LossFunction,
  type ModelContext,
  type TensorFlow,
  type Training,
} from "./engine/define-training";
