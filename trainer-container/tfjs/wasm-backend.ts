/** The methods (`x.relu()`) of layers and user code. The union package that adds them loads two more backends. */

import path from "node:path";
import * as wasm from "@tensorflow/tfjs-backend-wasm";
import * as tf from "@tensorflow/tfjs-core";
import { type MultiplyAdd, multiplyAdd } from "../wasm/multiply-add";
import { registerWasmKernels } from "./kernels/register";
import { type Heap, kernelsVersion, simdOf, WasmMemoryError } from "./simd/simd";

const operations =
  `abs acos acosh add all any argMax argMin asin asinh atan atan2 atanh avgPool batchNorm batchToSpaceND
  broadcastTo cast ceil clipByValue conv1d conv2d conv2dTranspose cos cosh cumprod cumsum depthToSpace depthwiseConv2d
  dilation2d div divNoNan dot elu equal erf euclideanNorm exp expandDims expm1 fft floor floorDiv gather greater greaterEqual
  ifft irfft isFinite isInf isNaN leakyRelu less lessEqual localResponseNormalization log log1p logicalAnd logicalNot logicalOr
  logicalXor logSigmoid logSoftmax logSumExp matMul max maximum maxPool mean min minimum mirrorPad mod mul neg norm notEqual
  oneHot onesLike pad pool pow prelu prod reciprocal relu relu6 reshape reverse rfft round rsqrt selu separableConv2d sigmoid
  sign sin sinh slice softmax softplus spaceToBatchND split sqrt square squaredDifference squeeze step stridedSlice sub sum tan
  tanh tile topk transpose unique unsortedSegmentSum unstack zerosLike`.split(/\s+/);

type Method = (this: tf.Tensor, ...rest: never[]) => unknown;

const listOf = (others: tf.Tensor | readonly tf.Tensor[]): readonly tf.Tensor[] =>
  Array.isArray(others) ? (others as readonly tf.Tensor[]) : [others as tf.Tensor];

/** The methods that differ from the function with the tensor as first argument. */
const special: Readonly<Record<string, Method>> = {
  asScalar() {
    return tf.reshape(this, []);
  },
  asType(dtype: tf.DataType) {
    return tf.cast(this, dtype);
  },
  toBool() {
    return tf.cast(this, "bool");
  },
  toFloat() {
    return tf.cast(this, "float32");
  },
  toInt() {
    return tf.cast(this, "int32");
  },
  flatten() {
    return tf.reshape(this, [this.size]);
  },
  as1D() {
    return tf.reshape(this, [this.size]);
  },
  reshapeAs(other: tf.Tensor) {
    return tf.reshape(this, other.shape);
  },
  concat(others: tf.Tensor | readonly tf.Tensor[], axis?: number) {
    return tf.concat([this, ...listOf(others)], axis);
  },
  stack(others: tf.Tensor | readonly tf.Tensor[], axis?: number) {
    return tf.stack([this, ...listOf(others)], axis);
  },
  where(condition: tf.Tensor, otherwise: tf.Tensor) {
    return tf.where(condition, this, otherwise);
  },
  resizeBilinear(size: [number, number], alignCorners?: boolean, halfPixelCenters?: boolean) {
    return tf.image.resizeBilinear(this as tf.Tensor4D, size, alignCorners, halfPixelCenters);
  },
  resizeNearestNeighbor(size: [number, number], alignCorners?: boolean, halfPixelCenters?: boolean) {
    return tf.image.resizeNearestNeighbor(this as tf.Tensor4D, size, alignCorners, halfPixelCenters);
  },
};

function registerChainedOps(): void {
  const functions = tf as unknown as Record<string, (...args: unknown[]) => unknown>;
  const prototype = tf.Tensor.prototype as unknown as Record<string, unknown>;
  for (const name of operations) {
    const operation = functions[name];
    if (!operation) throw new Error(`TensorFlow.js has no operation '${name}'.`);
    prototype[name] ??= function (this: tf.Tensor, ...rest: unknown[]): unknown {
      return operation(this, ...rest);
    };
  }
  for (const [name, method] of Object.entries(special)) prototype[name] ??= method;
  for (const name of ["as2D", "as3D", "as4D", "as5D"]) {
    prototype[name] ??= function (this: tf.Tensor, ...shape: number[]): unknown {
      return tf.reshape(this, shape);
    };
  }
}

interface WasmBackendInfo {
  readonly version: string;
  readonly simd: boolean;
  readonly threads: number;
  /** The version of this folder's kernels and the package's version. It changes with their arithmetic. */
  readonly kernels: string;
  /** The rounding of products. Bits depend on it. */
  readonly multiplyAdd: MultiplyAdd;
}

const crashEvents = ["uncaughtException", "unhandledRejection"] as const;

let started: Promise<WasmBackendInfo> | undefined;

/**
 * Starts TensorFlow.js on WebAssembly, once per process, on one thread: the threaded build does not run on Node.
 * @throws CompileError on a machine without WebAssembly SIMD
 * @throws Error if another backend already runs in this process
 */
export function startWasmBackend(): Promise<WasmBackendInfo> {
  started ??= start();
  return started;
}

async function start(): Promise<WasmBackendInfo> {
  const active = tf.engine().backendName;
  if (active && active !== "wasm") {
    throw new Error(
      `This process already runs the TensorFlow.js backend '${active}', and it has one engine a process; ` +
        "load the WebAssembly backend in a process of its own.",
    );
  }
  const folder = path.join(path.dirname(require.resolve("@tensorflow/tfjs-backend-wasm/package.json")), "dist");
  wasm.setWasmPaths(`${folder}${path.sep}`);
  registerChainedOps();
  registerWasmKernels();

  // Emscripten's glue code installs process-wide handlers that rethrow errors that others would handle. This removes
  // them.
  const before = crashEvents.map((event) => new Set(process.listeners(event as never)));
  const ok = await tf.setBackend("wasm");
  await tf.ready();
  crashEvents.forEach((event, index) => {
    for (const listener of process.listeners(event as never)) {
      if (!before[index]?.has(listener)) process.removeListener(event, listener as () => void);
    }
  });
  if (!ok) throw new Error(`The WebAssembly backend of TensorFlow.js did not start from ${folder}.`);
  const backend = tf.backend() as wasm.BackendWasm;
  refuseNull(backend.wasm as unknown as Heap);
  simdOf(backend); // Fails at the start if the machine or the package is not suitable.
  return {
    version: wasm.version_wasm,
    simd: await tf.env().getAsync("WASM_HAS_SIMD_SUPPORT").then(Boolean),
    threads: 1,
    kernels: kernelsVersion,
    multiplyAdd: multiplyAdd(),
  };
}

/** Makes allocations throw if memory is full: a tensor at address 0 would overwrite the kernels' own data. */
function refuseNull(heap: { -readonly [key in keyof Heap]: Heap[key] }): void {
  heap._free(heap._malloc(1)); // Emscripten's first call replaces the function.
  const allocate = heap._malloc;
  heap._malloc = (bytes) => {
    const address = allocate(bytes);
    if (address === 0) throw new WasmMemoryError(bytes);
    return address;
  };
}
