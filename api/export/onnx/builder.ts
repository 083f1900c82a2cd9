import type { Attribute, ElementType, OnnxGraph, Operation, Port, TensorValue } from "./file";

/** Collects a graph, and names its inner values. Names of ports come from people and may be any text. */
export class GraphBuilder {
  private readonly operations: Operation[] = [];
  private readonly constants: Record<string, TensorValue> = {};
  private readonly inputs: Port[] = [];
  private readonly outputs: Port[] = [];
  private readonly names = new Set<string>();

  /** Returns the name if it is free, else with as many underscores as needed. */
  private free(wanted: string): string {
    let name = wanted;
    while (this.names.has(name)) name += "_";
    this.names.add(name);
    return name;
  }

  input(name: string, type: ElementType, dims: Port["dims"]): string {
    const free = this.free(name);
    this.inputs.push({ name: free, type, dims });
    return free;
  }

  output(wanted: string, value: string, type: ElementType, dims: Port["dims"]): string {
    const name = this.free(wanted);
    this.operations.push({ op: "Identity", inputs: [value], outputs: [name], attributes: {} });
    this.outputs.push({ name, type, dims });
    return name;
  }

  constant(value: TensorValue, wanted = `constant_${Object.keys(this.constants).length}`): string {
    const name = this.free(wanted);
    this.constants[name] = value;
    return name;
  }

  floats(data: readonly number[] | Float32Array, dims: readonly number[] = [data.length], name?: string): string {
    return this.constant({ type: "float", data: Float32Array.from(data), dims }, name);
  }

  double(value: number): string {
    return this.constant({ type: "double", data: Float64Array.of(value), dims: [] });
  }

  doubles(data: readonly number[]): string {
    return this.constant({ type: "double", data: Float64Array.from(data), dims: [data.length] });
  }

  integer(value: number): string {
    return this.constant({ type: "int64", data: BigInt64Array.of(BigInt(value)), dims: [] });
  }

  integers(data: readonly number[]): string {
    return this.constant({ type: "int64", data: BigInt64Array.from(data.map(BigInt)), dims: [data.length] });
  }

  add(
    op: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, Attribute>> = {},
    domain?: Operation["domain"],
  ): string {
    const output = this.free(`value_${this.operations.length}`);
    this.operations.push({ op, inputs, outputs: [output], attributes, ...(domain ? { domain } : {}) });
    return output;
  }

  finish(name: string, metadata: Readonly<Record<string, string>>): OnnxGraph {
    return {
      name,
      operations: this.operations,
      constants: this.constants,
      inputs: this.inputs,
      outputs: this.outputs,
      metadata,
    };
  }
}

/** A layer's output. ONNX's convolutions have channels first; either form is computed when it is first requested. */
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
