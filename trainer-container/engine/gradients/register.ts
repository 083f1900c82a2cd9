import {
  cutAtComparisons,
  registerBatchNormalizationGradient,
  registerBroadcastGradients,
  registerCumulativeGradients,
  registerEinsumGradient,
  registerMultiplyGradient,
  registerReductionGradients,
} from "./elementwise";
import { registerPlaceGradients, registerRearrangementGradients, registerTileGradient } from "./places";
import { registerConvolutionGradients, registerResizingGradients } from "./spatial";

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
