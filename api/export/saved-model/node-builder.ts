import {
  type Attribute,
  type ElementType,
  elementTypes,
  type GraphNode,
  type Signature,
} from "../../../adapters/saved-model/graph-def";
import { unsupportedOperator } from "../../../core/export";
import type { Attribute as OnnxAttribute, TensorValue } from "../onnx/file";

export interface Tensor {
  readonly node: number;
  readonly type: ElementType;
}

type Attributes = Readonly<Record<string, Attribute>>;

export const typeOf = (type: ElementType): Attribute => ({ kind: "type", value: elementTypes[type] });

export class NodeBuilder {
  readonly nodes: GraphNode[] = [];
  /** The sources of transposed tensors, by node. */
  private readonly transposed = new Map<number, { readonly source: Tensor; readonly perm: readonly number[] }>();
  private readonly scalars = new Set<number>();

  add(op: string, inputs: readonly Tensor[], type: ElementType, attributes: Attributes): Tensor {
    const values = inputs.map(({ node }) => ({ node, output: 0 }));
    return { node: this.nodes.push({ op, inputs: values, attributes }) - 1, type };
  }

  /** Adds an operation whose attribute `T` is the type of its inputs and output. */
  plain(op: string, inputs: readonly Tensor[], attributes: Attributes = {}): Tensor {
    const { type } = inputs[0]!;
    return this.add(op, inputs, type, { T: typeOf(type), ...attributes });
  }

  placeholder(type: ElementType, shape: readonly number[]): Tensor {
    return this.add("Placeholder", [], type, { dtype: typeOf(type), shape: { kind: "shape", value: shape } });
  }

  constant(type: Exclude<ElementType, "string">, data: NodeJS.TypedArray, shape: readonly number[]): Tensor {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    return this.constantOf(type, shape, { kind: "tensor", value: { type: elementTypes[type], shape, bytes } });
  }

  texts(texts: readonly string[], shape: readonly number[]): Tensor {
    return this.constantOf("string", shape, { kind: "texts", value: { shape, texts } });
  }

  float(value: number): Tensor {
    return this.constant("float", Float32Array.of(value), []);
  }

  integers(values: readonly number[], shape: readonly number[] = [values.length]): Tensor {
    return this.constant("int32", Int32Array.from(values), shape);
  }

  private constantOf(type: ElementType, shape: readonly number[], value: Attribute): Tensor {
    const constant = this.add("Const", [], type, { dtype: typeOf(type), value });
    if (shape.length === 0) this.scalars.add(constant.node);
    return constant;
  }

  /** Transposes a tensor. Transposes of transposes are merged, and those that cancel leave the source. */
  transpose(x: Tensor, perm: readonly number[]): Tensor {
    const inner = this.transposed.get(x.node);
    const source = inner?.source ?? x;
    const merged = inner ? perm.map((axis) => inner.perm[axis]!) : perm;
    if (merged.every((axis, i) => axis === i)) return source;
    const { type } = source;
    const attributes = { T: typeOf(type), Tperm: typeOf("int32") };
    const node = this.add("Transpose", [source, this.integers(merged)], type, attributes);
    this.transposed.set(node.node, { source, perm: merged });
    return node;
  }

  /**
   * If all inputs but scalars are transposed in the same way, the sources are computed, so that transposes can cancel.
   */
  elementwise(inputs: readonly Tensor[], compute: (inputs: readonly Tensor[]) => Tensor): Tensor {
    const perms = new Set(
      inputs.filter(({ node }) => !this.scalars.has(node)).map(({ node }) => this.transposed.get(node)?.perm.join()),
    );
    const perm = inputs.map(({ node }) => this.transposed.get(node)?.perm).find((each) => each !== undefined);
    if (perm === undefined || perms.size > 1) return compute(inputs);
    return this.transpose(compute(inputs.map((x) => this.transposed.get(x.node)?.source ?? x)), perm);
  }

  cast(x: Tensor, type: ElementType): Tensor {
    return this.elementwise([x], ([from]) =>
      this.add("Cast", [from!], type, { SrcT: typeOf(x.type), DstT: typeOf(type) }),
    );
  }

  /** Reduces axes (`Max`, `Mean`, `Sum`). */
  reduce(op: string, x: Tensor, axes: readonly number[], keepAxes: boolean): Tensor {
    return this.plain(op, [x, this.integers(axes)], {
      Tidx: typeOf("int32"),
      keep_dims: { kind: "bool", value: keepAxes },
    });
  }

  select(condition: Tensor, yes: Tensor, no: Tensor): Tensor {
    return this.add("SelectV2", [condition, yes, no], yes.type, { T: typeOf(yes.type) });
  }

  compare(op: "Equal" | "Greater" | "Less", a: Tensor, b: Tensor): Tensor {
    return this.add(op, [a, b], "bool", { T: typeOf(a.type) });
  }

  reshape(x: Tensor, shape: Tensor): Tensor {
    return this.plain("Reshape", [x, shape], { Tshape: typeOf(shape.type) });
  }

  expandDims(x: Tensor, axis: number): Tensor {
    return this.plain("ExpandDims", [x, this.integers([axis], [])], { Tdim: typeOf("int32") });
  }

  shapeOf(x: Tensor): Tensor {
    return this.add("Shape", [x], "int64", { T: typeOf(x.type), out_type: typeOf("int64") });
  }
}

/** Removes the nodes that no port of the signature needs. */
export function prune(
  nodes: readonly GraphNode[],
  { inputs, outputs }: Signature,
): { readonly nodes: readonly GraphNode[]; readonly signature: Signature } {
  const needed = new Set([...inputs, ...outputs].map(({ value }) => value.node));
  // A node's inputs precede it.
  for (let at = nodes.length - 1; at >= 0; at -= 1) {
    if (needed.has(at)) for (const { node } of nodes[at]!.inputs) needed.add(node);
  }
  const places = new Map([...needed].sort((a, b) => a - b).map((node, place) => [node, place]));
  const moved = <T extends { readonly node: number }>(value: T): T => ({ ...value, node: places.get(value.node)! });
  const ports = (list: Signature["inputs"]) => list.map((port) => ({ ...port, value: moved(port.value) }));
  return {
    nodes: nodes.filter((_, i) => needed.has(i)).map((node) => ({ ...node, inputs: node.inputs.map(moved) })),
    signature: { inputs: ports(inputs), outputs: ports(outputs) },
  };
}

export interface Translation {
  readonly builder: NodeBuilder;
  readonly op: string;
  readonly attributes: Readonly<Record<string, OnnxAttribute>>;
  readonly inputs: readonly Tensor[];
  readonly constants: readonly (TensorValue | undefined)[];
}

export type Translator = (translation: Translation) => Tensor;

export function integer(attribute: OnnxAttribute | undefined, otherwise: number): number {
  return attribute && "int" in attribute ? attribute.int : otherwise;
}

export function float(attribute: OnnxAttribute | undefined, otherwise: number): number {
  return attribute && "float" in attribute ? attribute.float : otherwise;
}

export function integerList(attribute: OnnxAttribute | undefined): readonly number[] | undefined {
  return attribute && "ints" in attribute ? attribute.ints : undefined;
}

export function textList(attribute: OnnxAttribute | undefined): readonly string[] {
  return attribute && "texts" in attribute ? attribute.texts : [];
}

/** @throws EXPORT_UNSUPPORTED if the input is not a constant list of integers */
export function constantIntegers(op: string, value: TensorValue | undefined): readonly number[] {
  if (value?.type === "int64") return Array.from(value.data, Number);
  throw unsupportedOperator(op, "an input that must be constant is not");
}
