import type { Attribute, GraphNode, Value } from "../../../adapters/saved-model/graph-def";

/** Element types by the numbers of TensorFlow's types.proto. */
export const float32 = 1;
export const int32 = 3;

export const floatType: Attribute = { kind: "type", value: float32 };

export class GraphBuilder {
  private readonly list: GraphNode[] = [];

  get nodes(): readonly GraphNode[] {
    return this.list;
  }

  /** @param control nodes that run before this one */
  add(
    op: string,
    inputs: readonly Value[],
    attributes: Readonly<Record<string, Attribute>> = { T: floatType },
    control: readonly Value[] = [],
  ): Value {
    return this.push({ op, inputs, attributes, control: control.map(({ node }) => node) });
  }

  private push(node: GraphNode): Value {
    return { node: this.list.push(node) - 1, output: 0 };
  }

  placeholder(shape: readonly number[]): Value {
    return this.add("Placeholder", [], { dtype: floatType, shape: { kind: "shape", value: shape } });
  }

  number(value: number): Value {
    return this.push(constantNode([], Float32Array.of(value)));
  }

  integers(values: readonly number[]): Value {
    return this.push(constantNode([values.length], Int32Array.from(values)));
  }

  /**
   * @param replaced values of this graph instead of recorded nodes
   * @returns the value of this graph for a recorded one
   */
  append(nodes: readonly GraphNode[], replaced: ReadonlyMap<number, Value>): (recorded: Value) => Value {
    const first = this.list.length;
    const placed = (recorded: Value): Value =>
      replaced.get(recorded.node) ?? { node: first + recorded.node, output: recorded.output };
    for (const recorded of nodes) {
      const { inputs, control = [] } = recorded;
      const before = control.map((node) => placed({ node, output: 0 }).node);
      this.list.push({ ...recorded, inputs: inputs.map(placed), control: before });
    }
    return placed;
  }

  truncate(count: number): void {
    this.list.length = count;
  }

  /** Replaces the nodes that were added after there were `count`. @param nodes of this graph */
  restore(count: number, nodes: readonly GraphNode[]): void {
    this.list.splice(count, this.list.length, ...nodes);
  }
}

export function constantNode(shape: readonly number[], values: Float32Array | Int32Array): GraphNode {
  const type = values instanceof Int32Array ? int32 : float32;
  return {
    op: "Const",
    inputs: [],
    attributes: {
      dtype: { kind: "type", value: type },
      value: { kind: "tensor", value: { type, shape, bytes: new Uint8Array(values.buffer) } },
    },
    outputs: [{ type, shape }],
  };
}

/** Returns the elements of a constant of int32; undefined: the node is none. */
export function integersOf({ op, attributes }: GraphNode): readonly number[] | undefined {
  const value = attributes["value"];
  if (op !== "Const" || value?.kind !== "tensor" || value.value.type !== int32) return undefined;
  return [...new Int32Array(value.value.bytes.slice().buffer)];
}
