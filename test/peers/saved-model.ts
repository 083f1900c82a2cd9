import { spawnSync } from "node:child_process";
import path from "node:path";
import type { RawRow } from "../../core/features/transform";

const python = process.env["RINGMASTER_PEERS_PYTHON"] || "python3";
const quiet = { ...process.env, TF_CPP_MIN_LOG_LEVEL: "3", CUDA_VISIBLE_DEVICES: "-1" };
const script = "import tensorflow; print(tensorflow.__version__)";
const probe = spawnSync(python, ["-c", script], { encoding: "utf8", env: quiet });

export const hasTensorFlow = probe.status === 0;
export const tensorFlowTitle = hasTensorFlow
  ? `TensorFlow ${probe.stdout.trim()} in Python`
  : `TensorFlow in Python (skipped: ${python} cannot import it; name a Python that can in RINGMASTER_PEERS_PYTHON)`;

export type Answers = Readonly<Record<string, readonly (string | number | boolean | readonly number[])[]>>;

/** A folder with a SavedModel and its `metadata.json`, and raw rows. */
export interface ServingRequest {
  readonly directory: string;
  readonly rows: readonly RawRow[];
}

/** Computes each request's outputs by name with `tf.saved_model.load`. */
export function serveSavedModels(requests: readonly ServingRequest[]): readonly Answers[] {
  const { status, stdout, stderr } = spawnSync(python, [path.join(__dirname, "saved-model-serve.py")], {
    input: requests.map((request) => `${JSON.stringify(request)}\n`).join(""),
    encoding: "utf8",
    env: quiet,
    maxBuffer: 256 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(stderr);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Answers);
}
