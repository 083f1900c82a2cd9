import type { BackendWasm } from "@tensorflow/tfjs-backend-wasm";
import * as tf from "@tensorflow/tfjs-core";
import { createEngine } from "../../../trainer-container/engine/create-engine";
import { gradientsOf, moduleOf, stack } from "./models-of";

it("reports a step for which WebAssembly's memory is too small", async () => {
  const rows = 4_096;
  const features = 4_096;
  const factory = stack((layers) => [layers.dense({ units: 1, inputShape: [features] })]);
  const module = moduleOf(factory, { inputShape: [features], outputs: 1, task: "regression" });
  const engine = await createEngine({ preferred: "wasm", threads: 1 });
  const model = await engine.createModel(module, 1);
  const { wasm } = tf.backend() as BackendWasm;
  const { _malloc: allocate } = wasm as unknown as { readonly _malloc: (bytes: number) => number };
  const fill = (bytes: number) => {
    for (;;) allocate(bytes); // pages that nothing writes take no memory of the machine
  };
  for (let bytes = 2 ** 30; bytes > 2 ** 20; bytes /= 2) expect(() => fill(bytes)).toThrow(/heap has no/);

  const batch = { inputs: new Float32Array(rows * features), labels: new Float32Array(rows), rows };
  const step = () => gradientsOf(model, batch, "1/0", new Float32Array(model.parameterCount));
  expect(step).toThrow(
    expect.objectContaining({ code: "OUT_OF_MEMORY", message: expect.stringContaining("batchSize") }),
  );
});
