/** Runs where the native binding is installed (`node trainer-container/native/install.js`); its absence is no failure, and says so. */
import { trainingStep } from "../../../core/training/training-step";
import { createEngine } from "../../../trainer-container/engine/create-engine";
import type { Engine } from "../../../trainer-container/engine/engine";
import { BackendUnavailableError } from "../../../trainer-container/engine/errors";
import { findBinding } from "../../../trainer-container/engine/native-binding";
import { describeEngineContract } from "./contract";
import { describeGradientContract } from "./gradients-contract";
import { describeMasks } from "./masks-contract";
import { describeModuleContract } from "./module-contract";
import { describeNormalization } from "./normalization-contract";
import { describeOwnLayers } from "./own-layers-contract";
import { describeRecurrentLayers } from "./recurrent-contract";

const start = (): Promise<Engine> => createEngine({ preferred: "native", threads: 1 });

if (findBinding("cpu")) {
  describeEngineContract("native", start);
  describeModuleContract("native", start);
  describeRecurrentLayers(start);
  describeNormalization(start);
  describeGradientContract("native", start);
  describeOwnLayers("native", start);
  describeMasks("native", start);

  it("has the version of the training step", async () => {
    const { kernels, graph } = (await start()).numerics().switches;
    expect({ kernels, graph, step: trainingStep.version }).toEqual({ kernels: "17", graph: "7", step: 3 });
  });

  it("is what 'auto' chooses", async () => {
    expect((await createEngine({ preferred: "auto", threads: 1 })).backend).toBe("native");
  });

  it("refuses other settings in the same process", async () => {
    await start();
    await expect(createEngine({ preferred: "native", threads: 2 })).rejects.toThrow(/with 1 threads, CPU.*2 threads/);
  });
} else {
  it("is refused where the binding is not installed, and 'auto' falls back", async () => {
    await expect(start()).rejects.toThrow(BackendUnavailableError);
    expect((await createEngine({ preferred: "auto", threads: 1 })).backend).toBe("wasm");
  });
}
