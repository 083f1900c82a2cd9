/**
 * Applies the part of a summed gradient that belongs to running statistics (batch normalisation). The engine gives
 * `weight × (before − after)` for each micro-batch, so the mean update is one subtraction at rate 1.
 *
 * @param from first element of the statistics, `trainableCount` of the model
 * @param scale 1 / Σ weight. Clipping does not apply
 */
export function applyStatistics(weights: Float32Array, gradients: Float32Array, from: number, scale: number): void {
  for (let i = from; i < weights.length; i++) {
    weights[i] = (weights[i] as number) - (gradients[i] as number) * scale;
  }
}
