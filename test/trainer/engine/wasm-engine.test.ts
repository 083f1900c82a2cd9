import { trainingStep } from "../../../core/training/training-step";
import { createEngine } from "../../../trainer-container/engine/create-engine";
import type { Engine } from "../../../trainer-container/engine/engine";
import { describeEngineContract } from "./contract";
import { describeGradientContract } from "./gradients-contract";
import { describeMasks } from "./masks-contract";
import { describeModelChecks, describeModuleContract } from "./module-contract";
import { describeNormalization } from "./normalization-contract";
import { describeOwnLayers } from "./own-layers-contract";
import { describeRecurrentLayers } from "./recurrent-contract";

const start = (): Promise<Engine> => createEngine({ preferred: "wasm", threads: 1 });

describeEngineContract("wasm", start);
describeModuleContract("wasm", start);
describeModelChecks(start);
describeRecurrentLayers(start);
describeNormalization(start);
describeGradientContract("wasm", start);
describeOwnLayers("wasm", start);
describeMasks("wasm", start);

it("has the version of the training step", async () => {
  const { kernels } = (await start()).numerics().switches;
  expect({ kernels, step: trainingStep.version }).toEqual({ kernels: "16", step: 3 });
});

it("refuses a GPU", async () => {
  await expect(createEngine({ preferred: "wasm", threads: 1, gpu: 0 })).rejects.toThrow(/runs on no GPU/);
});
