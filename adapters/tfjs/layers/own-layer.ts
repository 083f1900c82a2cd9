import * as tf from "@tensorflow/tfjs-core";
import { layers } from "@tensorflow/tfjs-layers";

export type LayerOptions = NonNullable<ConstructorParameters<typeof layers.Layer>[0]>;
export type Shape = (number | null)[];

/** A layer with one input and one output. Its class is registered in `register.ts`. */
export abstract class OwnLayer extends layers.Layer {
  /**
   * Computes the output.
   * @param mask of the steps, `[rows, time]`; only if the layer supports masks
   */
  protected abstract compute(x: tf.Tensor, training: boolean, mask: tf.Tensor | undefined): tf.Tensor;

  override call(inputs: tf.Tensor | tf.Tensor[], options: Readonly<Record<string, unknown>>): tf.Tensor {
    return tf.tidy(() => {
      this.invokeCallHook(inputs, options);
      const [x, mask] = [inputs, options["mask"]].map((given) => (Array.isArray(given) ? given[0] : given));
      return this.compute(x as tf.Tensor, options["training"] === true, (mask as tf.Tensor | null) ?? undefined);
    });
  }

  override computeOutputShape(shape: Shape | Shape[]): Shape | Shape[] {
    return this.shapeOf(shape);
  }

  /** Returns the shape of the only input. @throws RangeError if there are several inputs */
  protected shapeOf(shape: Shape | Shape[]): Shape {
    const shapes = (Array.isArray(shape[0]) ? shape : [shape]) as Shape[];
    this.require(shapes.length === 1, `it has ${shapes.length} inputs, but takes one`);
    return shapes[0] as Shape;
  }

  /** Returns `[time, features]` of rows with both. @throws RangeError for rows of another rank */
  protected sequenceOf(given: Shape | Shape[]): readonly [time: number, features: number] {
    const shape = this.shapeOf(given);
    const [, time, features] = shape;
    const known = shape.length === 3 && typeof time === "number" && typeof features === "number";
    this.require(known, `its input's rows have the shape [${shape.slice(1)}], but must be [time, features]`);
    return [time, features] as [number, number];
  }

  protected requirePositiveInteger(option: string, value: unknown): void {
    const holds = Number.isSafeInteger(value) && (value as number) > 0;
    this.require(holds, `${option} is ${shown(value)}, but must be a positive integer`);
  }

  protected requireBoolean(option: string, value: unknown): void {
    this.require(typeof value === "boolean", `${option} is ${shown(value)}, but must be true or false`);
  }

  /** @throws RangeError that names the layer's class */
  protected require(holds: boolean, problem: string): void {
    if (!holds) throw new RangeError(`${this.getClassName()}: ${problem}.`);
  }
}

export function shown(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
