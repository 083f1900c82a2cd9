/** Calls of the user's code, and the place in it where a computation fails. */

import { isNativeError, isPromise } from "node:util/types";
import vm from "node:vm";
import * as tf from "@tensorflow/tfjs-core";
import type { LayersModel } from "@tensorflow/tfjs-layers";
import type { ModelDefinition } from "../../core/runs/model-definition";
import type { NonFinite } from "./engine";
import { EngineError, ModelError, RecordingDiffers } from "./errors";
import { isMemoryFull } from "./wasm/memory";

type Layer = LayersModel["layers"][number];

export interface ComputationObserver {
  /** Called when a layer has computed its outputs. */
  leaveLayer(name: string, outputs: readonly tf.Tensor[]): void;
}

let observer: ComputationObserver | undefined;
/** Names of the innermost layers by what their calls threw. */
const throwers = new WeakMap<object, string>();

/** Returns the name of the innermost layer whose call threw the value, if one did. */
const layerThatThrew = (thrown: unknown): string | undefined =>
  typeof thrown === "object" && thrown !== null ? throwers.get(thrown) : undefined;

/** Calls `body`, which must be synchronous, and reports its layers. */
export function observing<T>(by: ComputationObserver, body: () => T): T {
  const outer = observer;
  observer = by;
  try {
    return body();
  } finally {
    observer = outer;
  }
}

/** Makes a model's layers, also of nested models, report their calls. @returns the reported names */
export function reportCalls(layers: readonly Layer[], names: ReadonlyMap<string, string>): readonly string[] {
  return layers.flatMap((layer) => {
    const { call } = layer;
    const name = names.get(layer.name) ?? layer.name;
    layer.call = (inputs, options) => {
      let outputs: ReturnType<typeof call>;
      try {
        outputs = call.call(layer, inputs, options);
      } catch (error) {
        if (typeof error === "object" && error !== null && !throwers.has(error)) throwers.set(error, name);
        throw error;
      }
      observer?.leaveLayer(name, Array.isArray(outputs) ? outputs : [outputs]);
      return outputs;
    };
    return [name, ...reportCalls((layer as { readonly layers?: readonly Layer[] }).layers ?? [], names)];
  });
}

/** An error with enough frames to contain user code, which is below many frames of TensorFlow.js. */
function here(message: string): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 100;
  const error = new Error(message);
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}

/** Runs `compute` and calls `visit` after each kernel. Kernels that a kernel calls itself are part of it. */
function spyOnKernels(compute: () => unknown, visit: (kernel: string, outputs: readonly tf.Tensor[]) => void): void {
  const engine = tf.engine();
  const { runKernel } = engine;
  let depth = 0;
  engine.runKernel = ((name, inputs, attributes) => {
    depth += 1;
    try {
      const outputs = runKernel.call(engine, name, inputs, attributes);
      if (depth === 1) visit(name, [outputs].flat());
      return outputs;
    } finally {
      depth -= 1;
    }
  }) as typeof runKernel;
  try {
    compute();
  } finally {
    delete (engine as Partial<typeof engine>).runKernel; // the class's own is visible again
  }
}

/** Returns an error with the stack of a kernel's first call. */
function placeOfKernel(kernel: string, message: string, compute: () => unknown): Error | undefined {
  let place: Error | undefined;
  try {
    spyOnKernels(compute, (name) => {
      if (name === kernel) place ??= here(message);
    });
  } catch {
    // It failed before in the same way.
  }
  return place;
}

/** Runs a forward and a backward pass and returns the origin of its first value that is not finite. */
export function findNonFinite(
  layers: readonly Layer[],
  nameOf: (layer: string) => string,
  differentiate: () => unknown,
): NonFinite | undefined {
  const running: string[] = [];
  let nonFinite: NonFinite | undefined;
  const inLayers = () => {
    const engine = tf.engine();
    spyOnKernels(differentiate, (kernel, outputs) => {
      if (nonFinite || outputs.every(holdsFinite)) return;
      const layer = running.at(-1);
      const forward = engine.state.gradientDepth > 0;
      const part = layer ? `the layer '${nameOf(layer)}'` : "the loss";
      const where = forward ? part : "the backward pass";
      const description = `The first value that is not finite is computed in ${where}, by the operation ${kernel}.`;
      nonFinite = { description, place: here(description) };
    });
  };
  const restore = layers.map((layer) => {
    const { call } = layer;
    layer.call = (...all) => {
      running.push(layer.name);
      try {
        return call.apply(layer, all);
      } finally {
        running.pop();
      }
    };
    return () => delete (layer as Partial<Layer>).call;
  });
  try {
    inLayers();
  } finally {
    for (const each of restore) each();
  }
  return nonFinite;
}

function holdsFinite(tensor: tf.Tensor): boolean {
  return tensor.dtype !== "float32" || (tensor.dataSync() as Float32Array).every(Number.isFinite);
}

/** Time in which a synchronous call of user code must return: nothing else runs in the thread until then. Tests change it. */
export const timeLimit = { ms: 45_000 };
const pending = Symbol.for("ringmaster.pendingUserCode");
const callPending = new vm.Script('globalThis[Symbol.for("ringmaster.pendingUserCode")]()');

/** Number of calls that have a time limit at present, for other threads. */
export const limitedCalls = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

let stackOfLoop: () => string | undefined = () => undefined;

/** Sets a function that returns the frames in which the call was a while before its limit, if they are known. */
export function onTimeLimit(findStack: () => string | undefined): void {
  stackOfLoop = findStack;
}

export class TimeLimitError extends Error {
  constructor(timeoutMs: number) {
    super(`it did not return within ${timeoutMs / 1_000} s; does a loop in it not end?`);
    this.name = "Error"; // for the user it is one
    const stack = stackOfLoop();
    if (stack !== undefined) this.stack = `Error: ${this.message}\n${stack}`;
  }
}

/**
 * Calls user code from a script, because only a script's `timeout` can interrupt an endless loop.
 * @throws TimeLimitError if it does not return in time
 */
export function withTimeLimit<T>(call: () => T, timeout = timeLimit.ms): T {
  const holder = globalThis as { [pending]?: () => void };
  const outer = holder[pending];
  let returned: { readonly value: T } | undefined;
  holder[pending] = () => {
    returned = { value: call() };
  };
  Atomics.add(limitedCalls, 0, 1);
  try {
    callPending.runInThisContext({ timeout });
    return (returned as unknown as { readonly value: T }).value;
  } catch (error) {
    if ((error as NodeJS.ErrnoException | undefined)?.code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    throw new TimeLimitError(timeout);
  } finally {
    Atomics.sub(limitedCalls, 0, 1);
    if (outer === undefined) delete holder[pending];
    else holder[pending] = outer;
  }
}

export function repeatedName(name: string, cause?: unknown): ModelError {
  return new ModelError(
    `Two layers of the model have the name '${name}', and a model tells its layers apart by their names: ` +
      "give each a name of its own, or leave name out.",
    cause,
  );
}

/**
 * @param name the name that the user knows: `model()`, `loss()`, `metric 'confidence'`
 * @throws ModelError with the thrown value as its cause
 */
export function callUserCode<T>(name: string, call: () => T): T {
  try {
    return withTimeLimit(call);
  } catch (error) {
    if (error instanceof RecordingDiffers) throw error;
    const repeated = /^The name "(.*)" is used \d+ times in the model/.exec(
      (error as Partial<Error> | null)?.message ?? "",
    )?.[1];
    if (repeated !== undefined) throw repeatedName(repeated, error);
    const thrown = describeThrown(error);
    throw new ModelError(`The training module's ${name} threw ${thrown}${hintOf(thrown)}`, error);
  }
}

/**
 * Computes with a model and a loss that TensorFlow may reject only at run time.
 * @throws ModelError if the definition is a user's and the cause is not a lack of memory
 */
export function computeModel<T>(definition: ModelDefinition, compute: () => T): T {
  try {
    return compute();
  } catch (error) {
    if (definition.type !== "module" || error instanceof EngineError || isOutOfMemory(error)) throw error;
    const thrown = describeThrown(error);
    // The backward pass found it; the line is that of the operation in the forward pass.
    const kernel = /gradient function not found for (\w+)/.exec(thrown)?.[1];
    const place = kernel === undefined ? undefined : placeOfKernel(kernel, thrown, () => tf.tidy(compute as never));
    const layer = layerThatThrew(error);
    const isUnconnected = thrown.includes("Cannot find a connection between any variable and the result");
    const reason = isUnconnected
      ? "the loss has no gradient, because it depends on the model's outputs through no operation that has one " +
        "(comparisons, argMax, floorDiv and constants have none)"
      : `${layer === undefined ? "TensorFlow.js" : `the layer '${layer}'`} threw ${thrown}`;
    const hint = isOutsideOfTable.test(thrown) ? embeddingHint : hintOf(thrown);
    throw new ModelError(`The training module's model and loss cannot be computed: ${reason}${hint}`, place ?? error);
  }
}

/** The messages of WebAssembly's gather and of TensorFlow's. */
const isOutsideOfTable = /(?:index -?\d+|indices\[[\d,]*\] = -?\d+) is not in \[0, \d+/;
const embeddingHint =
  ". An embedding takes whole numbers from 0 that are below its inputDim: enlarge inputDim, and let the job's features have standardize: false";

/** Kernels of Fourier transforms and of their complex numbers, whose names users do not know. */
const fourier: ReadonlySet<string> = new Set(["Complex", "FFT", "IFFT", "Imag", "Real"]);

const withoutGradient = (kernel: string): string =>
  `${fourier.has(kernel) ? "a Fourier transform such as tf.fft" : `the operation ${kernel}`} has no gradient`;

/** Returns what to do about a message of TensorFlow.js that does not say it. */
function hintOf(thrown: string): string {
  const lacking = /Kernel '(\w+)' not registered for backend 'wasm'/.exec(thrown)?.[1];
  if (lacking !== undefined) {
    const rest = fourier.has(lacking) ? ` (for metrics only: ${withoutGradient(lacking)})` : "";
    return `. WebAssembly lacks this operation: compute the value by other operations, or set resources.backend to native${rest}`;
  }
  const constant = /gradient function not found for (\w+)/.exec(thrown)?.[1];
  if (constant !== undefined)
    return ` In the model and in loss(), ${withoutGradient(constant)}: compute the value by other operations. A metric may use it`;
  const unconnected = /Graph disconnected: .* at layer "(.*?)"/.exec(thrown)?.[1];
  if (unconnected !== undefined)
    return (
      `. The model's outputs depend on the layer '${unconnected}', which does not depend on the model's inputs: ` +
      "compute the outputs from the tensor that is given as inputs"
    );
  if (thrown.includes("Cannot read properties of undefined (reading 'sourceLayer')"))
    return ". An input or output of tf.model, or of a layer's apply, is undefined: give the result of tf.input or of a layer's apply";
  if (/shape of the input to "Flatten" is not fully defined/.test(thrown))
    return " A targetShape with -1 leaves a side open: write the number of values instead";
  if (thrown.includes("Improper config format"))
    return " Give a name, such as 'relu', or an object of tf.initializers or tf.regularizers: the model's artifact cannot hold functions";
  if (!/Cannot read properties of undefined \(reading 'backend'\)/.test(thrown)) return "";
  return (
    ". It uses a tensor that is disposed: what a call of loss() or a metric creates is disposed at the call's end. " +
    "Create the tensor in each call, or at the module's top level"
  );
}

/** Describes a returned value for a message: its type, and the value itself if it is short. Handles a promise's rejection. */
export function describeReturned(value: unknown): string {
  if (isPromise(value)) {
    value.catch(() => undefined);
    return "a promise";
  }
  if (typeof value === "number" || typeof value === "boolean") return `${typeof value} ${value}`;
  if (Array.isArray(value)) return "an array";
  return value === null || value === undefined ? String(value) : typeof value;
}

/** Describes what user code threw, which may be any value. */
export function describeThrown(error: unknown): string {
  if (!isNativeError(error)) return String(error);
  // TensorFlow.js writes a tensor of a model as an object.
  return `${error.name}: ${error.message.replace("tensor [object Object]", "a tensor")}`;
}

function isOutOfMemory(error: unknown): boolean {
  if (isMemoryFull(error)) return true;
  return /\bOOM\b|out of memory|allocation failed|memory access out of bounds/i.test(describeThrown(error));
}
