/** Rewritten graphs against the graphs before. Runs where the native binding is installed. */
import * as tf from "@tensorflow/tfjs-core";
import type { GraphNode, Value } from "../../../adapters/saved-model/graph-def";
import { Recorder } from "../../../trainer-container/engine/graph/recorder";
import { joinMicroBatches } from "../../../trainer-container/engine/graph/rewrites/batch";
import { sumInLevels, widenFactors } from "../../../trainer-container/engine/graph/rewrites/factors";
import { fuseElementwise } from "../../../trainer-container/engine/graph/rewrites/fuse";
import {
  joinProductsAndSums,
  useOwnPools,
  useOwnProducts,
} from "../../../trainer-container/engine/graph/rewrites/own-operations";
import { LoadedGraph, namesOf } from "../../../trainer-container/engine/graph/session";
import {
  hasOwnOperations,
  hasOwnProducts,
  type NativeBackend,
  treeSum,
} from "../../../trainer-container/engine/native/operations";
import { withinScope } from "../../../trainer-container/engine/tensor-scope";
import { describeNative, startNative } from "./native";

interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly placeholders: readonly Value[];
  readonly outputs: readonly Value[];
}

const largestDifference = (a: Float32Array, b: Float32Array): number =>
  a.reduce((largest, value, at) => Math.max(largest, Math.abs(value - b[at]!)), 0);

describeNative("rewrites of graphs", () => {
  let backend: NativeBackend;

  beforeAll(async () => {
    await startNative();
    backend = tf.backend() as NativeBackend;
  });

  /** Records a function. Its last operation of each output is a product of matrices, which is no elementwise operation. */
  const record = (inputs: readonly tf.Tensor[], body: () => readonly tf.Tensor[]): Graph =>
    withinScope(() => {
      const { nodes, placeholders, result } = new Recorder(backend).record(inputs, (recorder) =>
        body().map((each) => recorder.valueOf(each)),
      );
      return { nodes, placeholders, outputs: result };
    });

  function run({ nodes, placeholders, outputs }: Graph, inputs: readonly tf.Tensor[]): readonly Float32Array[] {
    const { binding } = backend;
    const graph = new LoadedGraph(binding, nodes);
    const ids = graph.run(namesOf(placeholders), backend.getInputTensorIds(inputs), namesOf(outputs));
    const values = ids.map((id) => binding.tensorDataSync(id) as Float32Array);
    for (const id of ids) binding.deleteTensor(id);
    graph.dispose();
    return values;
  }

  const callsOf = (nodes: readonly GraphNode[]) =>
    nodes.flatMap(({ op, attributes: { f, Tout } }) =>
      op === "PartitionedCall" && f?.kind === "function" && Tout?.kind === "types"
        ? [{ name: f.value.name, outputs: Tout.value.length }]
        : [],
    );

  /** Fuses a recorded function, checks that its results stay the same within 1e-5, and returns the calls. */
  function fuse(inputs: readonly tf.Tensor[], body: () => readonly tf.Tensor[]) {
    const graph = record(inputs, body);
    const fused = { ...graph, nodes: fuseElementwise(graph.nodes, graph.outputs) };
    const [before, after] = [run(graph, inputs), run(fused, inputs)];
    before.forEach((expected, index) => {
      const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 1);
      expect(after[index]).toHaveLength(expected.length);
      expect(largestDifference(expected, after[index]!) / largest).toBeLessThan(1e-5);
    });
    return callsOf(fused.nodes);
  }

  const side = 512;
  const matrix = (seed: number) => tf.randomNormal([side, side], 0, 1, "float32", seed) as tf.Tensor2D;
  const vector = () => tf.linspace(-1, 1, side);
  const gelu = (x: tf.Tensor): tf.Tensor2D => tf.mul(tf.mul(x, 0.5), tf.add(tf.erf(tf.mul(x, Math.SQRT1_2)), 1));

  it("computes neighbouring elementwise operations in one call", () => {
    const x = matrix(1);
    expect(fuse([x], () => [tf.matMul(gelu(tf.add(x, vector())), x)])).toEqual([
      { name: expect.any(String), outputs: 1 },
    ]);
  });

  it("does not join operations around another operation that depends on one and that the other needs", () => {
    const x = matrix(1);
    const calls = fuse([x], () => {
      const y = gelu(x);
      return [tf.matMul(gelu(tf.add(y, tf.mean(y, 1, true))), x)];
    });
    expect(calls).toHaveLength(2);
  });

  it("computes a mask again where it is read, and stores only the random numbers", () => {
    const [x, w, draws] = [matrix(1), matrix(2), matrix(3)];
    const calls = fuse([x, w, draws], () => {
      const mask = tf.mul(tf.cast(tf.greaterEqual(draws, 0.1), "float32"), 1 / 0.9);
      const forward = tf.matMul(gelu(tf.mul(x, mask)) as tf.Tensor2D, w);
      return [tf.matMul(gelu(tf.mul(forward, mask)), w)];
    });
    expect(calls.map(({ outputs }) => outputs)).toEqual([1, 1]);
  });

  it("gives equal groups one function", () => {
    const x = matrix(1);
    const calls = fuse([x], () => [tf.matMul(gelu(tf.matMul(gelu(x), x)), x)]);
    expect(calls).toHaveLength(2);
    expect(calls[0]?.name).toBe(calls[1]?.name);
  });

  it("keeps values that callers or other operations read", () => {
    const x = matrix(1);
    const calls = fuse([x], () => {
      const y = gelu(x);
      const z = gelu(tf.mul(y, vector()));
      return [tf.matMul(y, x), tf.matMul(z, y), tf.mul(z, 2)];
    });
    expect(calls).toEqual([{ name: expect.any(String), outputs: 2 }]);
  });

  it("leaves small tensors and single operations as they are", () => {
    const [small, large] = [tf.ones([8, 8]) as tf.Tensor2D, matrix(1)];
    const { nodes, outputs } = record([small, large], () => [
      tf.matMul(gelu(small), small),
      tf.matMul(tf.add(large, vector()) as tf.Tensor2D, large),
    ]);
    expect(fuseElementwise(nodes, outputs)).toEqual(nodes);
  });

  it("adds rows in levels, so that small numbers are not lost next to a large one", () => {
    const [rows, columns] = [4_096, 64];
    const large = 2 ** 24; // where the distance between floats is 2
    const x = tf.tidy(() => tf.concat([tf.fill([1, columns], large), tf.ones([rows - 1, columns])]));
    const graph = record([x], () => [tf.sum(x, 0)]);
    const levels = { ...graph, nodes: sumInLevels(graph.nodes) };
    expect(levels.nodes.length).toBeGreaterThan(graph.nodes.length);
    const lost = ([sums]: readonly Float32Array[]) => large + rows - 1 - (sums?.[columns - 1] as number);
    expect(lost(run(graph, [x]))).toBeGreaterThan(rows / 8);
    expect(lost(run(levels, [x]))).toBeLessThanOrEqual(32);
  });

  it.each([
    ["several first axes", [32, 64, 48], [0, 1], [48]],
    ["a number of rows without small divisors", [521, 256], [0], [256]],
    ["inner axes", [4, 512, 64], [1], [4, 64]],
  ])("gives the sums over %s", (_, shape, axes, outputShape) => {
    const x = tf.randomNormal(shape, 0, 1, "float32", 5);
    const graph = record([x], () => [tf.sum(x, axes)]);
    const [expected, found] = [graph.nodes, sumInLevels(graph.nodes)].map((nodes) => run({ ...graph, nodes }, [x])[0]);
    expect(found).toHaveLength(outputShape.reduce((product, each) => product * each, 1));
    expect(largestDifference(found!, expected!)).toBeLessThan(5e-4);
  });

  it.each([
    ["the right one", [1024, 24], [1024, 512], true],
    ["the left one", [1, 1024, 512], [1, 1024, 24], true],
    ["none with 500 columns", [1024, 24], [1024, 500], false],
    ["none with few rows", [512, 24], [512, 512], false],
    ["none of several products", [2, 1024, 24], [2, 1024, 512], false],
  ])("widens factors of a transposed product: %s", (_, left, right, widened) => {
    const [a, b] = [left, right].map((shape, seed) => tf.randomUniform(shape, -1, 1, "float32", seed));
    const graph = record([a, b] as tf.Tensor[], () => [tf.matMul(a as tf.Tensor, b as tf.Tensor, true)]);
    const nodes = widenFactors(graph.nodes);
    if (!widened) {
      expect(nodes).toBe(graph.nodes);
      return;
    }
    expect(nodes.filter(({ op }) => op === "Pad")).toHaveLength(1);
    const [expected, found] = [graph.nodes, nodes].map(
      (each) => run({ ...graph, nodes: each }, [a, b] as tf.Tensor[])[0],
    );
    expect(found).toHaveLength(24 * 512);
    expect(largestDifference(found!, expected!)).toBeLessThan(5e-4);
  });

  it("computes products and their sum as one operation, unless a term is another operation", () => {
    const draw = (shape: [number, number], seed: number) => tf.randomUniform(shape, -1, 1, "float32", seed);
    const [a, b, c, d] = [draw([16, 9], 1), draw([16, 9], 2), draw([16, 70], 3), draw([16, 70], 4)];
    const inputs = [a, b, c, d];
    const product = (left: tf.Tensor, right: tf.Tensor) =>
      tf.reshape(tf.matMul(left as tf.Tensor2D, right as tf.Tensor2D, true), [-1]);
    const sumOf = (second: () => tf.Tensor) => record(inputs, () => [treeSum(backend, [product(a, c), second()])]);
    const products = sumOf(() => product(b, d));
    const joined = { ...products, nodes: joinProductsAndSums(products.nodes) };
    const sums = ({ nodes }: Graph) => nodes.map(({ op }) => op).filter((op) => op.endsWith("Sum"));
    expect(sums(joined)).toEqual(["RingmasterProductSum"]);
    if (hasOwnProducts(backend.binding)) expect(run(joined, inputs)).toEqual(run(products, inputs));
    const mixed = sumOf(() => tf.reshape(tf.matMul(b, tf.relu(d), true).square(), [-1]));
    expect(joinProductsAndSums(mixed.nodes)).toEqual(mixed.nodes);
  });

  describe("with products of our own", () => {
    const [rows, microBatches] = [16, 3];
    const draw = (shape: [number, number], seed: number) =>
      tf.randomUniform(shape, -1, 1, "float32", seed) as tf.Tensor2D;
    const inputs = () => [draw([rows * microBatches, 20], 1), draw([20, 70], 2), draw([1, 70], 3), draw([70, 5], 4)];
    const own = /^Ringmaster/;

    /** Records the gradients of two dense layers over micro-batches, and adds them. */
    const layers = (given: readonly tf.Tensor[], shards: number): Graph => {
      const [all, first, bias, second] = given as [tf.Tensor2D, tf.Tensor2D, tf.Tensor2D, tf.Tensor2D];
      return record(given, () => {
        const flatBias = tf.reshape(bias, [-1]);
        const terms = Array.from({ length: shards }, (_, index) => {
          const count = (rows * microBatches) / shards;
          const x = shards === 1 ? all : tf.slice(all, [index * count, 0], [count, 20]);
          const loss = (...[w1, b1, w2]: tf.Tensor[]) =>
            tf.sum(
              tf.square(
                tf.matMul(tf.relu(tf.add(tf.matMul(x, w1 as tf.Tensor2D), b1!)) as tf.Tensor2D, w2 as tf.Tensor2D),
              ),
            );
          return tf
            .grads(loss as never)([first, flatBias, second])
            .map((gradient) => tf.reshape(gradient, [-1]));
        });
        return terms[0]!.map((term, slot) =>
          shards === 1
            ? term
            : treeSum(
                backend,
                terms.map((each) => each[slot] as tf.Tensor),
              ),
        );
      });
    };
    const withOwn = (graph: Graph): Graph => ({
      ...graph,
      nodes: useOwnProducts(graph.nodes, [...graph.placeholders, ...graph.outputs]),
    });
    const opsOf = ({ nodes, outputs }: Graph) => {
      const live = new Set(outputs.map(({ node }) => node));
      for (const index of live) for (const { node } of nodes[index]!.inputs) live.add(node);
      return [...live]
        .sort((a, b) => a - b)
        .map((index) => nodes[index]!.op)
        .filter((op) => own.test(op) || /MatMul|Relu|Bias|Sum/.test(op));
    };

    it("computes bias, ReLU and their gradients within the products", () => {
      const given = inputs();
      const graph = layers(given, 1);
      const found = withOwn(graph);
      expect(opsOf(found)).toEqual([
        "RingmasterDense",
        "RingmasterDense",
        "RingmasterProductSum",
        "RingmasterDenseGradient",
        "RingmasterColumnSum",
        "RingmasterProductSum",
      ]);
      if (!hasOwnProducts(backend.binding)) return;
      const [expected, values] = [run(graph, given), run(found, given)];
      for (const [index, each] of expected.entries())
        for (const [at, value] of each.entries()) expect(values[index]![at]).toBeCloseTo(value, 3);
    });

    it("keeps a product whose result is read elsewhere, and TensorFlow's products for many rows", () => {
      const [x, w] = [draw([16, 20], 1), draw([20, 70], 2)];
      const twice = record([x, w], () => {
        const product = tf.matMul(x, w);
        return [tf.relu(product), product];
      });
      expect(opsOf(withOwn(twice))).toEqual(["RingmasterDense", "Relu"]);
      const many = draw([257, 20], 1);
      expect(opsOf(withOwn(record([many, w], () => [tf.matMul(many, w)])))).toEqual(["BatchMatMulV2"]);
    });

    it.each([
      ["adds the gradients of micro-batches of 16 rows in one operation", rows, microBatches, 0],
      ["joins the rows of micro-batches that are computed alone", rows / 2, 2 * microBatches, 1],
    ])("%s", (_, count, shards, joined) => {
      const given = inputs();
      const single = withOwn(layers(given, shards));
      const fetched = [...single.placeholders, ...single.outputs];
      const batched = joinMicroBatches(single.nodes, shards, count, fetched);
      const placed = batched?.placed ?? ((value: Value) => value);
      const found: Graph = {
        nodes: joinProductsAndSums(batched?.nodes ?? single.nodes),
        placeholders: single.placeholders.map(placed),
        outputs: single.outputs.map(placed),
      };
      expect(
        opsOf(found)
          .filter((op) => op.endsWith("Sum"))
          .sort(),
      ).toEqual(["RingmasterColumnSum", "RingmasterProductSum", "RingmasterProductSum"]);
      expect(opsOf(found).filter((op) => op === "RingmasterDense")).toHaveLength(joined === 1 ? 2 * shards : 2);
      if (hasOwnProducts(backend.binding)) expect(run(found, given)).toEqual(run(single, given));
    });
  });

  describe("of equal operations of micro-batches", () => {
    const [microBatches, rows] = [3, 16];
    const microBatchesOf = (x: tf.Tensor): readonly tf.Tensor[] =>
      Array.from({ length: microBatches }, (_, index) =>
        tf.slice(x, [index * rows, ...x.shape.slice(1).map(() => 0)], [rows, ...x.shape.slice(1)]),
      );
    const bytesOf = (values: readonly Float32Array[]) => values.map((each) => Buffer.from(each.buffer).toString("hex"));

    /** Batches a recorded function, checks that its results have the same bits, and counts an operation before and after. */
    function count(op: string, inputs: readonly tf.Tensor[], body: () => readonly tf.Tensor[]): readonly number[] {
      const graph = record(inputs, body);
      const fetched = [...graph.placeholders, ...graph.outputs];
      const batched = joinMicroBatches(graph.nodes, microBatches, rows, fetched);
      const countOf = (nodes: readonly GraphNode[]) => nodes.filter((node) => node.op === op).length;
      if (batched === undefined) return [countOf(graph.nodes)];
      const { nodes, placed } = batched;
      const found = { nodes, placeholders: graph.placeholders.map(placed), outputs: graph.outputs.map(placed) };
      expect(bytesOf(run(found, inputs))).toEqual(bytesOf(run(graph, inputs)));
      return [countOf(graph.nodes), countOf(nodes)];
    }
    let x: tf.Tensor;
    let vectors: tf.Tensor;
    /** Has as many rows as a micro-batch. */
    let matrix: tf.Tensor2D;

    beforeAll(() => {
      x = tf.randomNormal([microBatches * rows, 4, 4, 3], 0, 1, "float32", 1);
      vectors = tf.reshape(x, [microBatches * rows, -1]);
      matrix = tf.randomNormal([rows, 5], 0, 1, "float32", 2);
    });

    it("computes products with one matrix together, and what mixes rows for each micro-batch", () => {
      const weights = tf.randomNormal([48, rows], 0, 1, "float32", 4) as tf.Tensor2D;
      const found = count("BatchMatMulV2", [vectors, weights, matrix], () =>
        microBatchesOf(vectors).map((part) => {
          const hidden = tf.relu(tf.matMul(part as tf.Tensor2D, weights)) as tf.Tensor2D;
          const outputs = tf.softmax(tf.matMul(hidden, matrix)) as tf.Tensor2D;
          return tf.concat([tf.sum(outputs, 0), tf.reshape(tf.matMul(hidden, outputs, true), [-1])]);
        }),
      );
      expect(found).toEqual([9, 5]);
    });

    it("joins what each micro-batch has of its own, and repeats what all have in common", () => {
      const weights = tf.randomNormal([48, 5], 0, 1, "float32", 4) as tf.Tensor2D;
      const keys = tf.tensor2d([3, 1, 2], [microBatches, 1]);
      const found = count("BatchMatMulV2", [vectors, weights, matrix, keys], () =>
        microBatchesOf(vectors).map((part, index) => {
          const own = tf.mul(tf.slice(keys, [index, 0], [1, 1]), tf.ones([rows, 48]));
          const products = tf.matMul(tf.mul(part, own) as tf.Tensor2D, weights);
          return tf.matMul(tf.add(products, matrix) as tf.Tensor2D, matrix, false, true);
        }),
      );
      expect(found).toEqual([6, 2]);
    });

    it("computes convolutions and pooling together", () => {
      const filter = tf.randomNormal([3, 3, 3, 8], 0, 1, "float32", 3) as tf.Tensor4D;
      const body = () =>
        microBatchesOf(x).map((part) => {
          const maps = tf.relu(tf.conv2d(part as tf.Tensor4D, filter, 1, "same")) as tf.Tensor4D;
          return tf.sum(tf.maxPool(maps, 2, 2, "valid"), [0]);
        });
      expect(count("Conv2D", [x, filter], body)).toEqual([3, 1]);
    });

    it("leaves operations alone that only some micro-batches have", () => {
      const weights = tf.randomNormal([48, 5], 0, 1, "float32", 4) as tf.Tensor2D;
      const found = count("BatchMatMulV2", [vectors, weights], () =>
        microBatchesOf(vectors).map((part, index) => {
          const given = index === 1 ? tf.neg(part) : part;
          return tf.sum(tf.matMul(given as tf.Tensor2D, weights), 0);
        }),
      );
      expect(found).toEqual([3]);
    });
  });

  describe("gradients of maximum pooling", () => {
    /** Replaces them in a recorded function, checks that the bits stay the same, and returns the gradients' operations. */
    function replace(shape: readonly number[], size: number | [number, number], relu: boolean): readonly string[] {
      // Whole numbers, so that several elements of a window are equal.
      const x = tf.round(tf.randomNormal(shape as [number, number, number, number], 0, 2, "float32", 5));
      const pool = (each: tf.Tensor) =>
        tf.maxPool((relu ? tf.relu(each) : each) as tf.Tensor4D, size, size, "valid") as tf.Tensor;
      const dy = tf.randomNormal(pool(x).shape, 0, 1, "float32", 6);
      const graph = record([x, dy], () => [tf.grad(pool)(x, dy)]);
      const nodes = useOwnPools(graph.nodes, [...graph.placeholders, ...graph.outputs]);
      // Numbers are compared: where TensorFlow has a zero, its sign depends on the number of channels.
      const [before, after] = [graph, { ...graph, nodes }].map((each) => [...run(each, [x, dy])[0]!].map((v) => v + 0));
      expect(after).toEqual(before);
      const reads = new Set(nodes.flatMap(({ inputs }) => inputs.map(({ node }) => node)));
      for (const { node } of graph.outputs) reads.add(node);
      return nodes.filter(({ op }, index) => /Grad$/.test(op) && reads.has(index)).map(({ op }) => op);
    }

    it.each([
      ["images of one channel", [2, 4, 6, 1], 2],
      ["of 8 channels", [2, 4, 4, 8], 2],
      ["of 27 channels, in windows of 3 × 2", [3, 6, 4, 27], [3, 2] as [number, number]],
      ["as large as the windows", [2, 5, 5, 3], 5],
    ])("become operations of ours, with the gradient of ReLU in them: %s", (_, shape, size) => {
      if (!hasOwnOperations(backend.binding)) return;
      expect(replace(shape, size, false)).toEqual(["RingmasterMaxPoolGrad"]);
      expect(replace(shape, size, true)).toEqual(["RingmasterMaxPoolGrad"]);
    });

    it("stay TensorFlow's if the windows do not cover the image", () => {
      expect(replace([2, 5, 4, 8], 2, false)).toEqual(["_MklNativeMaxPoolGrad"]);
    });
  });
});
