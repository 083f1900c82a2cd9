import { registerBatchNormalizationGradient } from "./batch-normalization";
import { registerBroadcastGradients } from "./broadcast";
import { cutAtComparisons } from "./comparisons";
import { registerConvolutionGradients } from "./convolutions";
import { registerCumulativeGradients } from "./cumulative";
import { registerEinsumGradient } from "./einsum";
import { registerMultiplyGradient } from "./multiply";
import { registerPlaceGradients } from "./places";
import { registerRearrangementGradients } from "./rearrangements";
import { registerReductionGradients } from "./reductions";
import { registerResizingGradients } from "./resizing";
import { registerTileGradient } from "./tile";

let registered = false;

/**
 * Replaces gradients of TensorFlow.js that are absent, wrong or take many operations, once per process. They consist of the backend's
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
  registerBroadcastGradients();
  registerConvolutionGradients();
  registerCumulativeGradients();
  registerEinsumGradient();
  registerPlaceGradients();
  registerRearrangementGradients();
  registerResizingGradients();
}
