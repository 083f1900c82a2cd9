import { javascriptGround, type OptimizerGround } from "../optimizer/optimizer";
import type { Updates } from "../optimizer/updates";
import type { Code } from "../wasm/encoding";
import type { WasmFunction } from "../wasm/module";
import { type Arithmetic, elementwise } from "./elementwise";
import { allocateSum, inSumMemory, kernelsInSumMemory } from "./sum-memory";

/** The optimizers' arithmetic as SIMD kernels, operation by operation as in `trainer-container/optimizer/updates.ts`. */

const [weights, gradients, slot, slot2] = [0, 1, 2, 3];

const scaled = (x: Arithmetic): Code => x.mul(x.load(gradients), x.scalar(0));
/** Computes s·g + λ·w, where s is the first scalar and λ the named one. */
const penalised = (x: Arithmetic, lambda: number): Code => x.add(scaled(x), x.mul(x.scalar(lambda), x.load(weights)));

const sgd = elementwise({
  name: "sgd",
  arrays: 2,
  scalars: 3,
  temporaries: 0,
  body: (x) => [x.store(weights, x.sub(x.load(weights), x.mul(x.scalar(1), penalised(x, 2))))],
});

function momentumKernel(name: string, direction: (x: Arithmetic) => Code): WasmFunction {
  return elementwise({
    name,
    arrays: 3,
    scalars: 4,
    temporaries: 2,
    body: (x) => [
      x.set(0, penalised(x, 2)),
      x.set(1, x.add(x.mul(x.scalar(3), x.load(slot)), x.get(0))),
      x.store(slot, x.get(1)),
      x.store(weights, x.sub(x.load(weights), x.mul(x.scalar(1), direction(x)))),
    ],
  });
}

const momentum = momentumKernel("momentum", (x) => x.get(1));
const nesterov = momentumKernel("nesterov", (x) => x.add(x.get(0), x.mul(x.scalar(3), x.get(1))));

const [keep1, keep2, root, epsilon, rate, decay, penalty] = [1, 2, 3, 4, 5, 6, 7];
const [g, mean, square] = [0, 1, 2];
const increment = (x: Arithmetic, array: number, keep: number, target: Code): Code =>
  x.add(x.load(array), x.mul(x.scalar(keep), x.sub(target, x.load(array))));

function adamKernel(name: string, scalars: number, gradient: (x: Arithmetic) => Code): WasmFunction {
  return elementwise({
    name,
    arrays: 4,
    scalars,
    temporaries: 3,
    body: (x) => {
      const divisor = x.add(x.mul(x.sqrt(x.get(square)), x.scalar(root)), x.scalar(epsilon));
      const move = x.div(x.mul(x.scalar(rate), x.get(mean)), divisor);
      return [
        x.set(g, gradient(x)),
        x.set(mean, increment(x, slot, keep1, x.get(g))),
        x.set(square, increment(x, slot2, keep2, x.mul(x.get(g), x.get(g)))),
        x.store(slot, x.get(mean)),
        x.store(slot2, x.get(square)),
        x.store(weights, x.sub(x.load(weights), x.add(x.mul(x.scalar(decay), x.load(weights)), move))),
      ];
    },
  });
}

const adam = adamKernel("adam", 7, scaled);
const adamL2 = adamKernel("adamL2", 8, (x) => penalised(x, penalty));

const kernels = kernelsInSumMemory([sgd, momentum, nesterov, adam, adamL2]);

/** Updates with kernels if this machine supports them. The bits are those of JavaScript. */
const simdUpdates: Updates = {
  sgd(w, gradient, constants) {
    run("sgd", w, gradient, [], [constants.scale, constants.learningRate, constants.weightDecay]);
  },
  momentum(w, gradient, velocity, { scale: s, learningRate, weightDecay, momentum: mu, nesterov: ahead }) {
    run(ahead ? "nesterov" : "momentum", w, gradient, [velocity], [s, learningRate, weightDecay, mu]);
  },
  adam(w, gradient, m, v, c) {
    const numbers = [c.scale, c.keep1, c.keep2, c.root, c.epsilon, c.rate, c.decay];
    // As in JavaScript, a penalty that rounds to zero is skipped.
    if (Math.fround(c.penalty) === 0) run("adam", w, gradient, [m, v], numbers);
    else run("adamL2", w, gradient, [m, v], [...numbers, c.penalty]);
  },
};

/** Elements copied at a time for arrays outside the memory of sums. Four such buffers stay in cache. */
const copiedElements = 8 * 1024;
const copies = kernels && Array.from({ length: 4 }, () => allocateSum(copiedElements));

/** Runs a kernel in place or through copies. A copy takes a quarter of the time of float32 arithmetic in JavaScript. */
function run(
  name: string,
  changed: Float32Array,
  gradient: Float32Array,
  slots: readonly Float32Array[],
  numbers: readonly number[],
): void {
  const kernel = kernels![name]!;
  const arrays = [changed, gradient, ...slots];
  const { length } = changed;
  // A kernel knows only addresses: with a short array it would access another one.
  const short = arrays.find((values) => values.length < length);
  if (short) throw new RangeError(`an array has ${short.length} elements, but there are ${length} weights`);
  if (inSumMemory(...arrays)) {
    kernel(...arrays.map(({ byteOffset }) => byteOffset), length, ...numbers);
    return;
  }
  const addresses = arrays.map((_, index) => copies![index]!.byteOffset);
  for (let start = 0; start < length; start += copiedElements) {
    const end = Math.min(length, start + copiedElements);
    for (const [index, values] of arrays.entries()) copies![index]!.set(values.subarray(start, end));
    kernel(...addresses, end - start, ...numbers);
    for (const [index, values] of arrays.entries()) {
      if (values !== gradient) values.set(copies![index]!.subarray(0, end - start), start);
    }
  }
}

/** The fastest optimizers of this process: with kernels, or in JavaScript on a machine without WebAssembly SIMD. */
export const simdGround: OptimizerGround =
  kernels === undefined ? javascriptGround : { allocate: allocateSum, updates: simdUpdates };
