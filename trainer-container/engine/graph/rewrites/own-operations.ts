/**
 * Replaces operations by our own (`trainer-container/native/operations/`) where the CPU has them: dense layers with bias, ReLU
 * and its gradient in registers and summed micro-batches, and gradients of maxima over separate windows in one pass.
 */
import type { Attribute, GraphNode, Value } from "../../../../adapters/saved-model/graph-def";
import { canonicalAdditions } from "../../../reduction/plan";
import { constantNode, float32, int32, integersOf } from "../builder";

/** Rows of a micro-batch up to which our products are used. TensorFlow's are faster for many rows. */
const maxRows = 256;

const flag = (value: boolean): Attribute => ({ kind: "bool", value });
const count = (value: number): Attribute => ({ kind: "int", value });
const additionsOf = (terms: number): Attribute => ({
  kind: "ints",
  value: canonicalAdditions(terms).flatMap(({ into, from }) => [into, from]),
});

/**
 * Gives dense layers operations of our own; nodes keep their positions. The choice depends on shapes alone, so a
 * micro-batch has the same bits everywhere.
 * @param nodes each after its inputs, before `joinMicroBatches`
 */
export function useOwnProducts(nodes: readonly GraphNode[], fetched: readonly Value[]): readonly GraphNode[] {
  const all = [...nodes];
  const readers = readerCounts(nodes, fetched);
  const gradients = rightFactors(nodes);
  for (const [index, node] of nodes.entries()) {
    const replaced = ownProduct(all, node) ?? withFollowing(all, node, readers) ?? biasGradient(all, node, gradients);
    if (replaced) all[index] = { ...replaced, outputs: node.outputs ?? [] };
  }
  return all;
}

function ownProduct(nodes: readonly GraphNode[], node: GraphNode): GraphNode | undefined {
  const sides = transposedSides(nodes, node);
  if (sides === undefined || sides.rows > maxRows) return undefined;
  const inputs = node.inputs.map((input) => unshaped(nodes, input));
  if (sides.left && sides.right) return undefined;
  if (sides.left) return { op: "RingmasterProductSum", inputs, attributes: { additions: additionsOf(1) } };
  if (sides.right) return { op: "RingmasterDenseGradient", inputs, attributes: { N: count(0) } };
  return { op: "RingmasterDense", inputs, attributes: { relu: flag(false), N: count(0) } };
}

/** Returns the operation for a bias, ReLU or its gradient after a product that nothing else reads. */
function withFollowing(
  nodes: readonly GraphNode[],
  { op, inputs }: GraphNode,
  readers: ReadonlyMap<number, number>,
): GraphNode | undefined {
  const [from, second] = inputs as readonly [Value?, Value?];
  const product = from && nodes[from.node];
  if (from === undefined || product === undefined || readers.get(from.node) !== 1) return undefined;
  const { attributes } = product;
  const isBare = attributes["N"]?.kind === "int" && attributes["N"].value === 0;
  const isActivated = attributes["relu"]?.kind === "bool" && attributes["relu"].value;
  if (product.op === "RingmasterDense" && !isActivated) {
    if (op === "Relu") return { ...product, attributes: { ...attributes, relu: flag(true) } };
    if (op === "BiasAdd" && isBare) return withInput(product, second as Value);
  }
  if (product.op === "RingmasterDenseGradient" && op === "ReluGrad" && isBare)
    return withInput(product, second as Value);
  return undefined;
}

const withInput = (product: GraphNode, input: Value): GraphNode => ({
  ...product,
  inputs: [...product.inputs, input],
  attributes: { ...product.attributes, N: count(1) },
});

/** Returns the operation for the sum of a layer's gradient over its rows. @param gradients see `rightFactors` */
function biasGradient(
  nodes: readonly GraphNode[],
  { op, inputs, attributes }: GraphNode,
  gradients: ReadonlySet<string>,
): GraphNode | undefined {
  const [rows, axes] = inputs as readonly [Value?, Value?];
  if (op !== "Sum" || rows === undefined || axes === undefined) return undefined;
  const keepsAxes = attributes["keep_dims"]?.kind === "bool" && attributes["keep_dims"].value;
  const axis = integersOf(nodes[axes.node] as GraphNode);
  const input = unshaped(nodes, rows);
  if (keepsAxes || axis?.length !== 1 || axis[0] !== 0 || !gradients.has(keyOf(input))) return undefined;
  return { op: "RingmasterColumnSum", inputs: [input], attributes: { additions: additionsOf(1) } };
}

/** Returns the right factors of the products that become `RingmasterProductSum`. */
function rightFactors(nodes: readonly GraphNode[]): ReadonlySet<string> {
  const products = nodes
    .map((node) => ownProduct(nodes, node))
    .filter((product) => product?.op === "RingmasterProductSum");
  return new Set(products.map((product) => keyOf(product?.inputs[1] as Value)));
}

interface Sides {
  /** Whether a factor is transposed. */
  readonly left: boolean;
  readonly right: boolean;
  /** Rows of the left factor before it is transposed. */
  readonly rows: number;
}

/** Describes a product of two matrices of float32; undefined: the node is another operation. */
function transposedSides(
  nodes: readonly GraphNode[],
  { op, inputs, attributes, outputs }: GraphNode,
): Sides | undefined {
  if (op !== "MatMul" && op !== "BatchMatMulV2") return undefined;
  const [result] = outputs ?? [];
  const shapes = inputs.map(({ node, output }) => nodes[node]?.outputs?.[output]?.shape);
  if (result?.type !== float32 || result.shape.length !== 2 || shapes.some((shape) => shape?.length !== 2))
    return undefined;
  const isSet = (...names: readonly string[]) =>
    names.some((name) => {
      const attribute = attributes[name];
      return attribute?.kind === "bool" && attribute.value;
    });
  return {
    left: isSet("transpose_a", "adj_x"),
    right: isSet("transpose_b", "adj_y"),
    rows: shapes[0]?.[0] as number,
  };
}

/** Passes over operations that give a matrix the shape that it has. */
function unshaped(nodes: readonly GraphNode[], value: Value): Value {
  const { op, inputs, outputs } = nodes[value.node] as GraphNode;
  const [from] = inputs;
  if (op !== "Reshape" || from === undefined) return value;
  const before = nodes[from.node]?.outputs?.[from.output]?.shape;
  return before && before.join() === outputs?.[0]?.shape.join() ? unshaped(nodes, from) : value;
}

function readerCounts(nodes: readonly GraphNode[], fetched: readonly Value[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { node } of [...fetched, ...nodes.flatMap(({ inputs }) => inputs)])
    counts.set(node, (counts.get(node) ?? 0) + 1);
  return counts;
}

const keyOf = ({ node, output }: Value): string => `${node}:${output}`;

/**
 * Replaces sums of dense layers' gradients over micro-batches by one operation; the others are appended. Terms may be
 * TensorFlow's products with other bits, so the caller compares.
 */
export function joinProductsAndSums(nodes: readonly GraphNode[]): readonly GraphNode[] {
  const all = [...nodes];
  for (const [index, node] of nodes.entries()) {
    if (node.op !== "RingmasterTreeSum") continue;
    const terms = node.inputs.map((term) => gradientOf(nodes, term));
    const [first] = terms;
    if (first === undefined || terms.some((term) => term?.op !== first.op)) continue;
    const inputs = first.inputs.map((_, side) =>
      rowsOf(
        all,
        terms.map((term) => term?.inputs[side] as Value),
      ),
    );
    const { op } = first;
    all[index] = { op, inputs, attributes: { additions: additionsOf(terms.length) }, outputs: node.outputs ?? [] };
  }
  return all;
}

/** Returns a micro-batch's gradient of a weight or bias, which has any shape, as an operation of ours. */
function gradientOf(nodes: readonly GraphNode[], { node }: Value): Pick<GraphNode, "op" | "inputs"> | undefined {
  const producer = nodes[node] as GraphNode;
  if (producer.op === "Reshape") return gradientOf(nodes, producer.inputs[0] as Value);
  if (producer.op === "RingmasterProductSum" || producer.op === "RingmasterColumnSum") return producer;
  const sides = transposedSides(nodes, producer);
  return sides?.left && !sides.right ? { op: "RingmasterProductSum", inputs: producer.inputs } : undefined;
}

/** Returns the rows of all micro-batches as one value. */
function rowsOf(nodes: GraphNode[], parts: readonly Value[]): Value {
  const sources = parts.map((part, index) => sourceOf(nodes, part, index, parts.length));
  const [first] = sources;
  if (first && sources.every((source) => source && keyOf(source) === keyOf(first))) return first;
  const add = (node: GraphNode): Value => ({ node: nodes.push(node) - 1, output: 0 });
  const axis = add(constantNode([], Int32Array.of(0)));
  const type = (value: number): Attribute => ({ kind: "type", value });
  const attributes = { N: count(parts.length), T: type(float32), Tidx: type(int32) };
  return add({ op: "ConcatV2", inputs: [...parts, axis], attributes });
}

/** Returns the value of which a micro-batch's rows were cut out, if it has the rows of these micro-batches only. */
function sourceOf(
  nodes: readonly GraphNode[],
  { node }: Value,
  microBatch: number,
  microBatches: number,
): Value | undefined {
  const { op, inputs, outputs } = nodes[node] as GraphNode;
  const [source, begin] = inputs as readonly [Value?, Value?];
  const rows = outputs?.[0]?.shape[0];
  if (op !== "Slice" || source === undefined || begin === undefined || rows === undefined) return undefined;
  const whole = nodes[source.node]?.outputs?.[source.output]?.shape;
  const first = integersOf(nodes[begin.node] as GraphNode)?.[0];
  return first === microBatch * rows && whole?.[0] === microBatches * rows ? source : undefined;
}

/**
 * Replaces oneDNN's gradients of maxima over separate windows that cover the image (`pools.cc`), with a ReLU's before
 * them.
 */
export function useOwnPools(nodes: readonly GraphNode[], fetched: readonly Value[]): readonly GraphNode[] {
  const all = [...nodes];
  const readers = readerCounts(nodes, fetched);
  for (const [index, node] of nodes.entries()) {
    const replaced = ownGradient(nodes, node) ?? withRelu(all, node, readers);
    if (replaced) all[index] = { ...replaced, outputs: node.outputs ?? [] };
  }
  return all;
}

function ownGradient(nodes: readonly GraphNode[], { op, inputs, attributes }: GraphNode): GraphNode | undefined {
  if (op !== "_MklNativeMaxPoolGrad") return undefined;
  const [image, result, gradient] = inputs as readonly [Value, Value, Value];
  const [sizes, strides] = [listOf(attributes["ksize"]), listOf(attributes["strides"])];
  const shape = nodes[image.node]?.outputs?.[image.output]?.shape;
  if (shape?.length !== 4 || sizes?.length !== 4 || sizes.join() !== strides?.join()) return undefined;
  if (shape.some((side, axis) => side % (sizes[axis] as number) !== 0)) return undefined;
  const [, height, width] = sizes as readonly [number, number, number, number];
  return {
    op: "RingmasterMaxPoolGrad",
    inputs: [image, result, gradient],
    attributes: {
      height: { kind: "int", value: height },
      width: { kind: "int", value: width },
      relu: { kind: "bool", value: false },
    },
  };
}

/** Returns the operation for the gradient of the ReLU whose result the windows read. */
function withRelu(
  nodes: readonly GraphNode[],
  { op, inputs }: GraphNode,
  readers: ReadonlyMap<number, number>,
): GraphNode | undefined {
  const [gradient, features] = inputs as readonly [Value?, Value?];
  const pool = gradient && nodes[gradient.node];
  if (op !== "ReluGrad" || features === undefined || pool?.op !== "RingmasterMaxPoolGrad") return undefined;
  const image = pool.inputs[0] as Value;
  const relu = nodes[image.node] as GraphNode;
  const isOf = [image, ...(relu.op === "Relu" ? relu.inputs : [])].some((value) => isSame(value, features));
  if (!isOf || readers.get(gradient?.node as number) !== 1) return undefined;
  return { ...pool, attributes: { ...pool.attributes, relu: { kind: "bool", value: true } } };
}

const isSame = (a: Value, b: Value): boolean => a.node === b.node && a.output === b.output;

const listOf = (attribute: Attribute | undefined): readonly number[] | undefined =>
  attribute?.kind === "ints" ? attribute.value : undefined;
