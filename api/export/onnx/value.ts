import type { GraphBuilder } from "./builder";

/**
 * The output of a layer. TensorFlow.js has channels last, ONNX's convolutions have them first. Either form is computed
 * when it is first requested, so that nothing is transposed between two convolutions.
 */
export class Value {
  private readonly builder: GraphBuilder;
  /** Shape of one row, channels last. */
  readonly shape: readonly number[];
  private channelsLast: string | undefined;
  private channelsFirst: string | undefined;

  constructor(
    builder: GraphBuilder,
    shape: readonly number[],
    form: { readonly last?: string; readonly first?: string },
  ) {
    this.builder = builder;
    this.shape = shape;
    this.channelsLast = form.last;
    this.channelsFirst = form.first;
  }

  /** The value in TensorFlow.js's axis order. */
  get last(): string {
    const rank = this.shape.length;
    this.channelsLast ??= this.transposed(this.channelsFirst!, [0, ...range(2, rank + 1), 1]);
    return this.channelsLast;
  }

  /** The value as `[rows, channels, …]`. */
  get first(): string {
    const rank = this.shape.length;
    this.channelsFirst ??= this.transposed(this.channelsLast!, [0, rank, ...range(1, rank)]);
    return this.channelsFirst;
  }

  /** Applies an element-wise operation to whichever form exists. */
  map(operation: (name: string) => string): Value {
    if (this.channelsLast !== undefined)
      return new Value(this.builder, this.shape, { last: operation(this.channelsLast) });
    return new Value(this.builder, this.shape, { first: operation(this.channelsFirst!) });
  }

  private transposed(name: string, perm: readonly number[]): string {
    return this.builder.add("Transpose", [name], { perm: { ints: perm } });
  }
}

/** Returns the numbers of `[from, to)`. */
export function range(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}
