import type { Precision } from "../../../core/runs/hyperparameters";
import type { TrainingTask } from "../../../core/runs/training-task";
import { createEngine } from "../../../trainer-container/engine/create-engine";
import { applySettings, nativeSettings, switchesOf } from "../../../trainer-container/engine/native-settings";
import { engineOptionsOf } from "../../../trainer-container/host/prepare";
import { taskOf } from "../loop/in-process";

describe("the settings of native TensorFlow", () => {
  const override = "NVIDIA_TF32_OVERRIDE";
  const before = process.env[override];
  afterEach(() => applySettings({ [override]: before }));

  const withPrecision = (precision: Precision) => ({ hyperparameters: { ...taskOf().hyperparameters, precision } });

  const gpu = { gpusPerWorker: 1 };
  it.each<[string, Partial<TrainingTask>, object, string | undefined, string]>([
    ["a CPU", {}, {}, "0", "off"],
    ["a GPU", gpu, { gpu: 0 }, "0", "off"],
    ["a GPU with TF32", { ...gpu, tf32: true }, { gpu: 0, tf32: true }, undefined, "on"],
    ["a GPU with precision tf32", { ...gpu, ...withPrecision("tf32") }, { gpu: 0, tf32: true }, undefined, "on"],
    ["a CPU with precision tf32", withPrecision("tf32"), {}, "0", "off"],
    ["a GPU with bfloat16", { ...gpu, ...withPrecision("bfloat16") }, { gpu: 0, precision: "bfloat16" }, "0", "off"],
  ])("for %s follow from the task, whatever the environment says of TF32", (_name, task, options, variable, tf32) => {
    expect(engineOptionsOf(taskOf(task))).toEqual({ preferred: "wasm", threads: 1, ...options });
    for (const environment of [{}, { [override]: "0" }, { [override]: "1" }]) {
      const settings = nativeSettings(engineOptionsOf(taskOf(task)), environment);
      expect(settings[override]).toBe(variable);
      expect(switchesOf(settings)).toEqual({ deterministicOps: "on", tf32, onednn: "on" });
    }
  });

  it("switch the graph optimizer off on a CPU alone, whatever the environment says", () => {
    const optimizerOf = (gpu: object) =>
      nativeSettings({ threads: 1, ...gpu }, { RINGMASTER_GRAPH_OPTIMIZER: "?" }).RINGMASTER_GRAPH_OPTIMIZER;
    expect([optimizerOf({}), optimizerOf({ gpu: 0 })]).toEqual(["off", "on"]);
  });

  it("are set in the process, or unset", () => {
    process.env[override] = "0";
    applySettings({ [override]: undefined });
    expect(override in process.env).toBe(false);
    applySettings({ [override]: "0" });
    expect(process.env[override]).toBe("0");
  });

  it("leave other switches to the environment", () => {
    const settings = nativeSettings({ threads: 2 }, { TF_DETERMINISTIC_OPS: "0", TF_ENABLE_ONEDNN_OPTS: "0" });
    expect(switchesOf(settings)).toEqual({ deterministicOps: "off", tf32: "off", onednn: "off" });
    expect(settings).toMatchObject({ TF_NUM_INTRAOP_THREADS: "2", CUDA_VISIBLE_DEVICES: "-1" });
  });

  it("have no TF32 without a GPU", async () => {
    await expect(createEngine({ threads: 1, tf32: true })).rejects.toThrow(
      "TF32 was requested without a GPU, but only GPUs compute with it.",
    );
  });
});
