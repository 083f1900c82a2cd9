import type { GraphNode } from "../../../adapters/saved-model/graph-def";
import { constantNode } from "../../../trainer-container/engine/graph/builder";
import { comparable, scaledNodes } from "../../../trainer-container/engine/graph/scaled-nodes";

const float32 = 1;
const integers = (...values: readonly number[]) => constantNode([values.length], Int32Array.from(values));
const floats = (...values: readonly number[]) => constantNode([values.length], Float32Array.from(values));
const node = (shape: readonly number[], more: Partial<GraphNode> = {}): GraphNode => ({
  op: "Reshape",
  inputs: [{ node: 0, output: 0 }],
  attributes: {},
  outputs: [{ type: float32, shape }],
  ...more,
});

/** A pass of `rows` rows: 3 values a row in a matrix of 12 columns, whose mean is taken. */
const pass = (rows: number): readonly GraphNode[] => [
  integers(rows, 12),
  node([rows, 12], { attributes: { sizes: { kind: "ints", value: [1, rows / 2, 1] } } }),
  node([12 * rows]),
  floats(1 / rows),
];

describe("nodes of more rows", () => {
  it("follow from two recordings, except for constants that are no integers", () => {
    expect(scaledNodes({ nodes: pass(2), rows: 2 }, { nodes: pass(8), rows: 8 }, 128)).toEqual(
      pass(128).map(comparable),
    );
    expect(comparable(floats(0.5))).toEqual(comparable(floats(0.25)));
    expect(comparable(floats(0.5))).not.toEqual(comparable(floats(0.5, 0.5)));
    expect(comparable(integers(2))).not.toEqual(comparable(integers(3)));
  });

  it.each<[string, (rows: number) => readonly GraphNode[]]>([
    ["a side is the square of the rows", (rows) => [node([rows * rows])]],
    ["a side is the rows and one more", (rows) => [node([rows + 1])]],
    ["a side is at most 4", (rows) => [node([Math.min(rows, 4)])]],
    ["a constant lists the rows", (rows) => [integers(...Array(rows).keys())]],
    ["the number of axes differs", (rows) => [node(rows === 2 ? [2] : [rows, 1])]],
    ["an operation differs", (rows) => [node([rows], { op: rows === 2 ? "Squeeze" : "Reshape" })]],
    ["an operation is missing", (rows) => (rows === 2 ? [] : [node([rows])])],
    ["an input differs", (rows) => [node([rows], { inputs: rows === 2 ? [] : [{ node: 0, output: 0 }] })]],
    ["a flag differs", (rows) => [node([rows], { attributes: { flag: { kind: "bool", value: rows === 2 } } })]],
  ])("do not follow where %s", (_, of) => {
    expect(scaledNodes({ nodes: of(2), rows: 2 }, { nodes: of(8), rows: 8 }, 128)).toBeUndefined();
  });
});
