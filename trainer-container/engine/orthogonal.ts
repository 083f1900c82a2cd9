import * as tf from "@tensorflow/tfjs-core";
import { initializers } from "@tensorflow/tfjs-layers";

interface OrthogonalInitializer {
  readonly gain: number;
  readonly seed?: number;
  apply(shape: number[], dtype?: tf.DataType): tf.Tensor;
}

let installed = false;

/**
 * Replaces `tf.initializers.orthogonal`, whose small operations take 5 to 14 s for 256 units; equal within rounding.
 */
export function installOrthogonal(): void {
  if (installed) return;
  installed = true;
  const initializer = initializers.orthogonal({ gain: 1 } as never);
  const prototype = Object.getPrototypeOf(initializer) as OrthogonalInitializer;
  const { apply } = prototype;
  prototype.apply = function (this: OrthogonalInitializer, shape, dtype) {
    if (shape.length < 2 || (dtype ?? "float32") !== "float32") return apply.call(this, shape, dtype);
    const columns = shape[shape.length - 1] as number;
    const rows = tf.util.sizeFromShape(shape) / columns;
    const [length, count] = [Math.max(rows, columns), Math.min(rows, columns)];
    return tf.tidy(() => {
      const random = tf.randomNormal([length, count], 0, 1, "float32", this.seed).dataSync() as Float32Array;
      const vectors = Array.from({ length: count }, (_, column) =>
        Float64Array.from({ length }, (_, row) => random[row * count + column] as number),
      );
      orthonormalize(vectors);
      // The vectors are the matrix's columns, or its rows if it is wider than high.
      const at = (row: number, column: number) => (rows < columns ? vectors[row]?.[column] : vectors[column]?.[row]);
      const values = Float32Array.from(
        { length: rows * columns },
        (_, index) => this.gain * (at(Math.floor(index / columns), index % columns) as number),
      );
      return tf.tensor(values, shape);
    });
  };
}

/** Makes vectors orthonormal by the modified Gram–Schmidt process; the diagonal of R is positive. */
function orthonormalize(vectors: readonly Float64Array[]): void {
  vectors.forEach((vector, index) => {
    for (let earlier = 0; earlier < index; earlier++) {
      const other = vectors[earlier] as Float64Array;
      let product = 0;
      for (let i = 0; i < vector.length; i++) product += (vector[i] as number) * (other[i] as number);
      for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] as number) - product * (other[i] as number);
    }
    const norm = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
    for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] as number) / norm;
  });
}
