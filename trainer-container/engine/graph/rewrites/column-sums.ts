/**
 * Computes sums of many rows in levels of at most 32 rows. TensorFlow adds the rows of a column one after the other,
 * which is less precise, and for wide rows several times slower.
 */
import type { GraphNode, Value } from "../../../../adapters/saved-model/graph-def";
import { constantNode, int32, integersOf } from "../builder";

/** Rows from which a sum has levels. */
const minRows = 256;
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
  const isLarge = rows >= minRows && columns >= minColumns && rows * columns >= minElements;
  return isLarge && levelOf(rows) > 1 ? rows : undefined;
}

/** Returns how many rows the next level adds: the largest suitable divisor, all if they are few, or 1 if there is none. */
function levelOf(rows: number): number {
  if (rows <= 2 * maxRowsOfLevel) return rows;
  for (let level = maxRowsOfLevel; level >= minRowsOfLevel; level -= 1) if (rows % level === 0) return level;
  return 1;
}
