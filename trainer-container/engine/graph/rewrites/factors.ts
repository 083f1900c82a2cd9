/**
 * Sums of many rows get levels of at most 32: TensorFlow's order is less precise and several times slower. Factors
 * whose rows start at multiples of 2,048 bytes are widened: oneDNN's columns displace each other in the cache, which
 * doubles the time.
 */
import type { GraphNode, Value } from "../../../../adapters/saved-model/graph-def";
import { constantNode, float32, int32, integersOf } from "../builder";

/** Rows from which a sum has levels. */
const minSummedRows = 256;
/** Columns from which a sum has levels. For few columns, TensorFlow's loops are fast. */
const minColumns = 64;
const maxRowsOfLevel = 32;
const minRowsOfLevel = 8;
/** Elements from which a sum has levels. */
const minElements = 65_536;

/** Returns an equal graph. The nodes keep their positions; levels are appended. */
export function sumInLevels(nodes: readonly GraphNode[]): readonly GraphNode[] {
  const all = [...nodes];
  const add = (node: GraphNode): Value => ({ node: all.push(node) - 1, output: 0 });
  const integers = (values: readonly number[]): Value => add(constantNode([values.length], Int32Array.from(values)));
  for (const [index, node] of nodes.entries()) {
    const rows = summedRows(nodes, node);
    const { T } = node.attributes;
    const [x] = node.inputs;
    const shape = node.outputs?.[0]?.shape;
    if (rows === undefined || T === undefined || x === undefined || shape === undefined) continue;
    const columns = shape.reduce((product, side) => product * side, 1);
    const reshape = (value: Value, to: readonly number[]): GraphNode => ({
      op: "Reshape",
      inputs: [value, integers(to)],
      attributes: { T, Tshape: { kind: "type", value: int32 } },
    });
    let left = rows;
    let value = x;
    for (let level = levelOf(left); level > 1; level = levelOf(left)) {
      left /= level;
      const { attributes } = node;
      value = add({ op: "Sum", inputs: [add(reshape(value, [level, left * columns])), integers([0])], attributes });
    }
    if (value !== x) all[index] = { ...reshape(value, shape), outputs: node.outputs ?? [] };
  }
  return all.length === nodes.length ? nodes : all;
}

/** Returns the number of rows that a node adds up; undefined: it is no large sum over the first axes. */
function summedRows(nodes: readonly GraphNode[], { op, inputs, attributes }: GraphNode): number | undefined {
  const [data, axes] = inputs as readonly [Value, Value?];
  const source = op === "Sum" ? nodes[data.node]?.outputs?.[data.output] : undefined;
  const summed = axes && integersOf(nodes[axes.node] as GraphNode);
  if (source === undefined || summed === undefined) return undefined;
  if (attributes["keep_dims"]?.kind === "bool" && attributes["keep_dims"].value) return undefined;
  const { shape } = source;
  if (summed.length === 0 || !summed.every((axis, at) => axis === at)) return undefined;
  const rows = shape.slice(0, summed.length).reduce((product, side) => product * side, 1);
  const columns = shape.slice(summed.length).reduce((product, side) => product * side, 1);
  const isLarge = rows >= minSummedRows && columns >= minColumns && rows * columns >= minElements;
  return isLarge && levelOf(rows) > 1 ? rows : undefined;
}

/** Returns how many rows the next level adds: the largest suitable divisor, all if they are few, or 1 if there is none. */
function levelOf(rows: number): number {
  if (rows <= 2 * maxRowsOfLevel) return rows;
  for (let level = maxRowsOfLevel; level >= minRowsOfLevel; level -= 1) if (rows % level === 0) return level;
  return 1;
}

/** Columns between rows that displace each other. */
const stride = 512;
/** Columns of both factors from which the product takes so long that the copies of columns do not matter. */
const maxColumns = 1_024;
/** Rows from which the product takes longer than the copy of the factor. */
const minRows = 1_024;
/** One line of the cache, so that successive rows begin in different ones. */
const added = 16;

/** Returns an equal graph. The nodes keep their positions; copies are appended. */
export function widenFactors(nodes: readonly GraphNode[]): readonly GraphNode[] {
  const all = [...nodes];
  const add = (node: GraphNode): Value => ({ node: all.push(node) - 1, output: 0 });
  const integers = (shape: readonly number[], values: readonly number[]): Value =>
    add(constantNode(shape, Int32Array.from(values)));
  for (const [index, node] of nodes.entries()) {
    const side = sideToWiden(nodes, node);
    const shape = node.outputs?.[0]?.shape;
    if (side === undefined || shape === undefined) continue;
    const rank = shape.length;
    const paddings = Array.from({ length: rank * 2 }, (_, at) => (at === rank * 2 - 1 ? added : 0));
    const T = { kind: "type", value: float32 } as const;
    const index32 = { kind: "type", value: int32 } as const;
    const wide = add({
      op: "Pad",
      inputs: [node.inputs[side] as Value, integers([rank, 2], paddings)],
      attributes: { T, Tpaddings: index32 },
    });
    const product = add({
      op: node.op,
      inputs: node.inputs.map((input, at) => (at === side ? wide : input)),
      attributes: node.attributes,
    });
    const begin = integers([rank], new Array<number>(rank).fill(0));
    all[index] = {
      op: "Slice",
      inputs: [product, begin, integers([rank], shape)],
      attributes: { T, Index: index32 },
      outputs: node.outputs ?? [],
    };
  }
  return all.length === nodes.length ? nodes : all;
}

/** Returns the position of the factor to widen in a product of a transposed matrix and a matrix, both of many rows. */
function sideToWiden(nodes: readonly GraphNode[], { op, inputs, attributes, outputs }: GraphNode): 0 | 1 | undefined {
  if (op !== "MatMul" && op !== "BatchMatMulV2") return undefined;
  const isSet = (name: string) => attributes[name]?.kind === "bool" && attributes[name].value === true;
  if (!(isSet("transpose_a") || isSet("adj_x")) || isSet("transpose_b") || isSet("adj_y")) return undefined;
  const shapes = inputs.map(({ node, output }) => nodes[node]?.outputs?.[output]?.shape);
  const [left, right] = shapes;
  if (left === undefined || right === undefined || outputs?.[0]?.type !== float32) return undefined;
  const isOne = [left, right].every((shape) => shape.slice(0, -2).every((side) => side === 1));
  if (!isOne || (left.at(-2) as number) < minRows) return undefined;
  const columns = [left.at(-1) as number, right.at(-1) as number] as const;
  if (columns.every((each) => each >= maxColumns)) return undefined;
  const wider = columns[0] > columns[1] ? 0 : 1;
  return ([wider, wider === 0 ? 1 : 0] as const).find((side) => columns[side] % stride === 0);
}
