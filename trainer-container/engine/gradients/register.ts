import { registerBatchNormalizationGradient } from "./batch-normalization";
import { cutAtComparisons } from "./comparisons";
import { registerMultiplyGradient } from "./multiply";
import { registerReductionGradients } from "./reductions";
import { registerTileGradient } from "./tile";

let registered = false;

/**
 * Replaces gradients of TensorFlow.js that take many operations, once per process. They consist of the backend's
 * operations, so the bits depend on them: a change of this folder changes both backends' versions of the kernels.
 */
export function registerGradients(): void {
  if (registered) return;
  registered = true;
  cutAtComparisons();
  registerTileGradient();
  registerBatchNormalizationGradient();
  registerMultiplyGradient();
  registerReductionGradients();
}
