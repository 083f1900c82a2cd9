import { savedModel } from "../../../adapters/saved-model/graph-def";
import { GraphBuilder } from "../../../api/export/onnx/builder";
import { NodeBuilder, prune } from "../../../api/export/saved-model/node-builder";
import { toSavedModelFile } from "../../../api/export/to-saved-model";

const countOf = (file: Uint8Array, text: string): number => Buffer.from(file).toString("latin1").split(text).length - 1;

describe("a SavedModel", () => {
  it("has its signature in the fields of meta_graph.proto", () => {
    const port = { name: "x", value: { node: 0, output: 0 }, type: "double", shape: [-1, 2] } as const;
    const file = savedModel([], { inputs: [port], outputs: [] });
    const shape = "1a11" + "120b08ffffffffffffffffff01" + "12020802"; // dimensions -1 and 2
    const info = `0a0a${Buffer.from("n0000000:0").toString("hex")}1002${shape}`; // DT_DOUBLE
    const input = `0a240a0178121f${info}`; // "x"
    const method = `1a1c${Buffer.from("tensorflow/serving/predict").toString("hex")}`;
    const hex = Buffer.from(file).toString("hex");
    expect(hex).toContain(Buffer.from("serving_default").toString("hex"));
    expect(hex).toContain(info);
    expect(hex).toContain(method.slice(4));
    expect(hex).toContain(input.slice(4, 10));
  });

  it("keeps text as text, also if it is empty", () => {
    const builder = new NodeBuilder();
    builder.texts(["", "é"], [2]);
    // string_val (field 8) of length 0, then of length 2.
    expect(Buffer.from(savedModel(builder.nodes)).toString("hex")).toContain("42004202c3a9");
  });

  it("does not transpose between convolutions, activations and pooling", () => {
    const builder = new GraphBuilder();
    const kernel = builder.floats(new Float32Array(4 * 4 * 9), [4, 4, 3, 3]);
    const window = { kernel_shape: { ints: [3, 3] }, strides: { ints: [1, 1] }, pads: { ints: [1, 1, 1, 1] } };
    let value = builder.add("Transpose", [builder.input("x", "float", ["rows", 8, 8, 4])], {
      perm: { ints: [0, 3, 1, 2] },
    });
    for (const activation of ["Relu", "Sigmoid"]) {
      const convolved = builder.add("Conv", [value, kernel], { ...window, group: { int: 1 } });
      const half = builder.add("Mul", [convolved, builder.floats([0.5], [])]);
      value = builder.add("MaxPool", [builder.add(activation, [half])], window);
    }
    builder.output("y", builder.add("Transpose", [value], { perm: { ints: [0, 2, 3, 1] } }), "float", []);
    const file = toSavedModelFile(builder.finish("test", {}));
    expect(countOf(file, "Transpose")).toBe(0);
    expect(countOf(file, "Conv2D")).toBe(2);
  });

  it("transposes where the axes matter", () => {
    const builder = new GraphBuilder();
    const turned = builder.add("Transpose", [builder.input("x", "float", ["rows", 2, 3])], {
      perm: { ints: [0, 2, 1] },
    });
    const bias = builder.floats([1, 2], [2]);
    builder.output("y", builder.add("Add", [turned, bias]), "float", ["rows", 3, 2]);
    expect(countOf(toSavedModelFile(builder.finish("test", {})), "Transpose")).toBe(1);
  });

  it("has no nodes that its outputs do not need, except for its inputs", () => {
    const builder = new NodeBuilder();
    const unused = builder.placeholder("float", [-1]);
    builder.float(1);
    const kept = builder.plain("Relu", [builder.placeholder("float", [-1])]);
    const port = (name: string, node: number) =>
      ({ name, value: { node, output: 0 }, type: "float", shape: [-1] }) as const;
    const { nodes, signature } = prune(builder.nodes, {
      inputs: [port("a", unused.node), port("b", 2)],
      outputs: [port("y", kept.node)],
    });
    expect(nodes.map(({ op }) => op)).toEqual(["Placeholder", "Placeholder", "Relu"]);
    expect(nodes[2]!.inputs).toEqual([{ node: 1, output: 0 }]);
    expect(signature.outputs[0]!.value.node).toBe(2);
  });

  it.each([
    ["an operator that it does not know", "Mystery", [], /operator Mystery/],
    ["logarithms of softmax along another axis", "LogSoftmax", [], /operator LogSoftmax/],
    ["an ELU with another alpha", "Elu", [], /operator Elu/],
    ["a resize by a fraction", "Resize", ["", "scales"], /operator Resize/],
  ] as const)("refuses %s by its name", (_name, op, more, message) => {
    const builder = new GraphBuilder();
    const x = builder.input("x", "float", ["rows", 2, 2, 2]);
    builder.floats([1, 1, 1.5, 1], [4], "scales");
    builder.output("y", builder.add(op, [x, ...more], { axis: { int: 1 }, alpha: { float: 0.5 } }), "float", []);
    const write = (): Uint8Array => toSavedModelFile(builder.finish("test", {}));
    expect(write).toThrow(expect.objectContaining({ code: "EXPORT_UNSUPPORTED" }));
    expect(write).toThrow(message);
  });
});
