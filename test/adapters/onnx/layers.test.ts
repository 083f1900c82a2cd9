import * as tf from "@tensorflow/tfjs-core";
import { type LayersModel, layers } from "@tensorflow/tfjs-layers";
import { startOnnxRuntime } from "../../../adapters/onnx/run-onnx";
import { GraphBuilder } from "../../../api/export/onnx/builder";
import { encodeOnnx } from "../../../api/export/onnx/file";
import { addNetwork } from "../../../api/export/onnx/network-graph";
import { checkParity } from "../../../api/export/parity";
import { mulberry32 } from "../../../core/datasets/split";
import { networkOf } from "../../../trainer-container/tfjs/network";
import { startWasmBackend } from "../../../trainer-container/tfjs/wasm-backend";
import { build, cases, chain, type Layer, rows, series, shake } from "../../support/network-cases";

describe("layers as ONNX, run by onnxruntime", () => {
  const random = mulberry32(7);
  const networks: LayersModel[] = [];
  beforeAll(() => startWasmBackend());
  const runtime = startOnnxRuntime();
  afterAll(async () => {
    await runtime.close();
    for (const network of networks) network.dispose();
  });

  it.each(cases)("%s", async (name, shape, apply) => {
    const network = build(shape, apply);
    networks.push(network);
    shake(network, random);
    const size = shape.reduce((product, side) => product * side, rows);
    const draw = name.startsWith("embedding") ? () => Math.floor(random() * 4) : () => random() * 4 - 2;
    const inputs = Float32Array.from({ length: size }, draw);
    const expected = tf.tidy(() => (network.predict(tf.tensor(inputs, [rows, ...shape])) as tf.Tensor).dataSync());

    const builder = new GraphBuilder();
    const from = builder.input("input", "float", ["rows", ...shape]);
    const found = addNetwork(builder, networkOf(network), from);
    builder.output("output", found, "float", ["rows", network.outputs[0]!.shape[1]!]);
    const file = encodeOnnx(builder.finish("test", {}));
    const { output } = await runtime.run(file, { input: { type: "float", data: inputs, dims: [rows, ...shape] } });

    expect(output!.dims).toEqual([rows, network.outputs[0]!.shape[1]]);
    expect(checkParity("the file", output!.data as Float32Array, expected as Float32Array, rows)).toBeLessThan(1e-5);
  });

  const refused: readonly (readonly [why: string, shape: readonly number[], layer: () => Layer])[] = [
    ["ONNX export supports Activation", series, () => layers.rnn({ cell: layers.gruCell({ units: 3 }) })],
    [
      "the layer in it is Activation, not Dense",
      series,
      () => layers.timeDistributed({ layer: layers.activation({ activation: "relu" }) }),
    ],
    ["it normalises axis 1", series, () => layers.batchNormalization({ axis: 1 })],
  ];
  it.each(refused)("refuses a layer by its name, because %s", (why, shape, create) => {
    const layer = create();
    const network = build(shape, chain(layer));
    networks.push(network);
    const write = (): string => {
      const builder = new GraphBuilder();
      return addNetwork(builder, networkOf(network), builder.input("input", "float", ["rows", ...shape]));
    };
    expect(write).toThrow(expect.objectContaining({ code: "EXPORT_UNSUPPORTED" }));
    expect(write).toThrow(why);
    expect(write).toThrow(layer.name);
  });
});
