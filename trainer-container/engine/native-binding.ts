import { existsSync, readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import util from "node:util";
import { BackendUnavailableError } from "./errors";

/** The used part of the C++ addon. TensorFlow.js's Node backend uses the rest. */
export interface NativeBinding {
  readonly TF_Version: string;
  /** Attribute kinds and element types. */
  readonly TF_ATTR_TYPE: number;
  readonly TF_ATTR_INT: number;
  readonly TF_ATTR_FLOAT: number;
  readonly TF_ATTR_SHAPE: number;
  readonly TF_ATTR_STRING: number;
  readonly TF_ATTR_BOOL: number;
  readonly TF_FLOAT: number;
  readonly TF_INT32: number;
  readonly TF_BOOL: number;
  isUsingGpuDevice(): boolean;
  createTensor(shape: readonly number[], type: number, values: Float32Array | Int32Array): number;
  deleteTensor(id: number): void;
  /** Returns a copy. */
  tensorDataSync(id: number): Float32Array | Int32Array;
  executeOp(
    op: string,
    attributes: readonly unknown[],
    inputs: readonly number[],
    outputs: number,
  ): readonly { readonly id: number; readonly dtype: number; readonly shape: readonly number[] }[];
  getNumOfTensors(): number;
  /**
   * A step of Adam with tensors that `RingmasterHold` keeps under `held`; only in a binding with our operations. `sum`:
   * gradients of all weights.
   * @returns the norm of the mean gradient; NaN: it is not finite, and nothing was changed
   */
  adam(held: number, constants: Float32Array, sum: Float32Array): number;
  releaseHeld(held: number): void;
  /** Loads the SavedModel of a folder; `tags` are separated by commas. */
  loadSavedModel(folder: string, tags: string): number;
  deleteSavedModel(id: number): void;
  /** Runs a graph. Names are `NODE:OUTPUT`, separated by commas. */
  runSavedModel(
    id: number,
    inputs: readonly number[],
    inputNames: string,
    outputNames: string,
  ): readonly { readonly id: number; readonly shape: readonly number[] }[];
}

const packageName = "@tensorflow/tfjs-node-gpu";
/** See `build` in `trainer-container/native/location.js`. */
const build = 6;

/** The folder of the binding, which survives `npm ci`; `trainer-container/native/location.js` has the same formula. */
export function nativeFolder(library: "cpu" | "gpu", environment: NodeJS.ProcessEnv = process.env): string {
  const { version } = require(`${packageName}/package.json`) as { version: string };
  const cache = environment.XDG_CACHE_HOME || path.join(os.homedir(), ".cache");
  const root = environment.RINGMASTER_NATIVE_DIR || path.join(cache, "ringmaster", "native");
  return path.join(root, `${version}-${build}-${library}-${process.platform}-${process.arch}`);
}

/** Finds the installed binding's file. The GPU library also serves the CPU. A copy inside the package comes last. */
export function findBinding(library: "cpu" | "gpu", environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const libraries = library === "gpu" ? (["gpu"] as const) : (["cpu", "gpu"] as const);
  const installed = libraries.map((each) => bindingOf(nativeFolder(each, environment)));
  const lib = path.join(path.dirname(require.resolve(`${packageName}/package.json`)), "lib/napi-v8/tfjs_binding.node");
  return [...installed, lib].find((file) => file !== undefined && existsSync(file));
}

function bindingOf(folder: string): string | undefined {
  try {
    const manifest = JSON.parse(readFileSync(path.join(folder, "native.json"), "utf8")) as { binding: string };
    return path.join(folder, manifest.binding);
  } catch {
    return undefined; // not installed
  }
}

/** @throws BackendUnavailableError if none is installed */
export function requireBinding(library: "cpu" | "gpu"): string {
  const file = findBinding(library);
  if (file) return file;
  const option = library === "gpu" ? " --library gpu" : "";
  throw new BackendUnavailableError(
    `The native TensorFlow binding (${library}) is not installed; run 'ringmaster native${option}'.`,
  );
}

/** Loads the binding. TensorFlow reads its settings from the environment now. @throws BackendUnavailableError */
export function loadBinding(file: string): NativeBinding {
  restoreRemovedUtilities();
  try {
    return require(file) as NativeBinding;
  } catch (error) {
    throw new BackendUnavailableError(
      `The native TensorFlow binding ${file} does not load: ${(error as Error).message}. Run 'ringmaster native' again.`,
      error,
    );
  }
}

/** Restores two functions that the package's JavaScript calls. Node 22 deprecates them and Node 23 removed them. */
function restoreRemovedUtilities(): void {
  Object.assign(util, {
    isNullOrUndefined: (value: unknown): boolean => value === null || value === undefined,
    isArray: Array.isArray,
  });
}
