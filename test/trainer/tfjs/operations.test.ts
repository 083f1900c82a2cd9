import type { ModelDefinition } from "../../../core/runs/model-definition";
import { createEngine } from "../../../trainer-container/engine/create-engine";
import { operationsPerRow } from "../../../trainer-container/tfjs/operations";
import { moduleOf, stack } from "../engine/models-of";

/** Multiply-adds by hand: weights × positions, and one for each element of an output. */
it.each<[string, ModelDefinition, number]>([
  [
    "a dense network",
    { type: "mlp", hidden: [5], inputShape: [4], task: "classification", outputs: 3 },
    4 * 5 + 5 + 5 + (5 * 3 + 3 + 3),
  ],
  [
    "a convolution, at each pixel of its output",
    moduleOf(
      stack((layers) => [
        layers.conv2d({ filters: 4, kernelSize: 3, inputShape: [6, 6, 2] }), // [4, 4, 4]
        layers.flatten(),
        layers.dense({ units: 3 }),
      ]),
      { inputShape: [6, 6, 2] },
    ),
    (3 * 3 * 2 * 4 + 4) * 16 + 64 + 64 + (64 * 3 + 3 + 3),
  ],
  [
    "a recurrent network, at each step of its input",
    moduleOf(
      stack((layers) => [layers.simpleRNN({ units: 5, inputShape: [7, 2] }), layers.dense({ units: 3 })]),
      { inputShape: [7, 2] },
    ),
    (2 * 5 + 5 * 5 + 5) * 7 + 5 + (5 * 3 + 3 + 3),
  ],
])("counts the operations of a row: %s", async (_what, definition, expected) => {
  const engine = await createEngine({ preferred: "wasm", threads: 1 });
  const model = await engine.createModel(definition, 1);
  const found = await operationsPerRow(model.topology());
  model.dispose();
  // The input layer counts its elements.
  expect(found - expected).toBeGreaterThanOrEqual(0);
  expect(found - expected).toBeLessThanOrEqual(definition.inputShape.reduce((all, side) => all * side, 1));
});
