/** Sinusoids (Vaswani et al., 2017), `[time, features]`: sin and cos of t / maxWavelength^(2i / features). */
export function sinusoidalPositions(time: number, features: number, maxWavelength: number): Float32Array {
  return Float32Array.from({ length: time * features }, (_, index) => {
    const [t, column] = [Math.floor(index / features), index % features];
    const angle = t / maxWavelength ** ((column - (column % 2)) / features);
    return column % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
  });
}

/** Added to scores of positions that attention must not see. Softmax then gives exactly 0. */
export const hiddenScore = -1e9;

/** Returns `[time, time]`: 0 where the column is not later than the row. */
export function causalMask(time: number): Float32Array {
  return Float32Array.from({ length: time * time }, (_, index) =>
    index % time > Math.floor(index / time) ? hiddenScore : 0,
  );
}
