import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { unpackFolder } from "../../adapters/files/folder";
import { storedManifest } from "../../core/datasets/shapes";
import { getJson } from "../../core/object-documents";
import { objectKeys } from "../../core/object-keys";
import type { ModelSpec } from "../../core/runs/job";
import type { TrainingTask } from "../../core/runs/training-task";
import type { GangMember } from "../gang/gang";
import type { TrainerDependencies } from "../host/dependencies";
import { writeChannels } from "./channels";
import { createReaper } from "./command";
import { pythonEnvironment } from "./python";
import { startTracking } from "./tracking";

export type ContainerSpec = Extract<ModelSpec, { type: "container" }>;

/** Variables of the trainer that a command gets. The others may be secrets. */
const passed = /^(PATH|HOME|LANG|LC_\w+|TZ|TMPDIR|USER|LD_LIBRARY_PATH|CUDA_\w+|NVIDIA_\w+|OMP_\w+)$/;

/** The folders of one worker's command, as SageMaker's containers have them, with code, data and environment in place. */
export async function openPlace(
  { config, store, telemetry }: TrainerDependencies,
  task: TrainingTask,
  spec: ContainerSpec,
) {
  const root = config.containerRoot ?? mkdtempSync(path.join(os.tmpdir(), "ringmaster-container-"));
  const folder = (...names: string[]) => {
    const made = path.join(root, ...names);
    mkdirSync(made, { recursive: true });
    return made;
  };
  const code = folder("code");
  const model = folder("model");
  const output = folder("output", "data");
  const checkpoints = folder("checkpoints");
  const channels = folder("input", "data");
  const notice = path.join(folder("input"), "interruption");
  if (spec.sha256 !== undefined) unpackFolder(await store.getContent(spec.sha256), code);
  const dataset = await getJson(store, objectKeys.trainingDataset(task.runId), storedManifest);
  await writeChannels(store, dataset, channels, spec.data);
  writeFileSync(path.join(folder("input", "config"), "hyperparameters.json"), JSON.stringify(spec.options));
  const bin = spec.python
    ? await pythonEnvironment(path.join(code, spec.python.requirements), config.cacheDirectory)
    : undefined;
  const tracking = await startTracking(task.runId, model, telemetry);
  const reaper = createReaper(root);
  const own = Object.entries(process.env).filter(([name]) => passed.test(name)) as [string, string][];
  const texts = Object.entries(spec.options).map(
    ([name, value]) =>
      [
        `SM_HP_${name.toUpperCase().replaceAll("-", "_")}`,
        typeof value === "string" ? value : JSON.stringify(value),
      ] as const,
  );
  const base: Readonly<Record<string, string>> = {
    ...Object.fromEntries(own),
    ...(bin === undefined ? {} : { PATH: `${bin}:${process.env["PATH"] ?? ""}`, VIRTUAL_ENV: path.dirname(bin) }),
    PYTHONUNBUFFERED: "1",
    ...spec.env,
    ...Object.fromEntries(texts),
    SM_HPS: JSON.stringify(spec.options),
    SM_MODEL_DIR: model,
    SM_OUTPUT_DIR: path.dirname(output),
    SM_OUTPUT_DATA_DIR: output,
    SM_CHECKPOINT_DIR: checkpoints,
    SM_INPUT_DIR: path.join(root, "input"),
    SM_CHANNELS: JSON.stringify(["train", "validation", "test"]),
    SM_CHANNEL_TRAIN: path.join(channels, "train"),
    SM_CHANNEL_VALIDATION: path.join(channels, "validation"),
    SM_CHANNEL_TEST: path.join(channels, "test"),
    SM_NUM_GPUS: String(task.gpusPerWorker),
    RINGMASTER_NOTICE: notice,
    RINGMASTER_SEED: String(task.seed),
    MLFLOW_TRACKING_URI: tracking.uri,
    MLFLOW_RUN_ID: task.runId,
  };
  return {
    ...{ code, model, output, checkpoints, notice, tracking, reaper },
    /** Returns the environment of a start of the command. */
    environment(rank: number, members: readonly GangMember[], port: number): Readonly<Record<string, string>> {
      return {
        ...base,
        MASTER_ADDR: members[0]?.host ?? "127.0.0.1",
        MASTER_PORT: String(port),
        RANK: String(rank),
        WORLD_SIZE: String(members.length),
        LOCAL_RANK: "0",
        LOCAL_WORLD_SIZE: "1",
        SM_CURRENT_HOST: `algo-${rank + 1}`,
        SM_HOSTS: JSON.stringify(members.map((_, at) => `algo-${at + 1}`)),
      };
    },
    /** Empties the folders of the command's output. */
    clear() {
      for (const made of [model, output, notice]) rmSync(made, { recursive: true, force: true });
      for (const made of [model, output]) mkdirSync(made, { recursive: true });
    },
    close() {
      tracking.close();
      reaper.stdin?.end(); // removes the folder
    },
  };
}

export type ContainerPlace = Awaited<ReturnType<typeof openPlace>>;
