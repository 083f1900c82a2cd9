/** What a user's training module imports as `ringmaster`. */
export {
  defineTraining,
  type LossFunction,
  type ModelContext,
  type TensorFlow,
  type Training,
} from "./engine/define-training";
