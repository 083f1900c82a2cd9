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

/** Replaces gradients that are absent, wrong or slow. A change changes both backends' version of the kernels. */
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
