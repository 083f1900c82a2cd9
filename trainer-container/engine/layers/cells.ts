/**
 * Recurrent cells over a sequence. x_t input, h_t output, c_t state, W kernel, U recurrent kernel, b bias, σ recurrent
 * activation, φ activation. z_t = x_t·W + b is one product; only what depends on h_{t−1} goes step by step. The
 * backward pass returns dz_t; its products are in `recurrent.ts`.
 */
import * as tf from "@tensorflow/tfjs-core";

/** An activation whose gradient follows from its output. */
interface Activation {
  apply(x: tf.Tensor2D): tf.Tensor2D;
  /** @param y output @param dy gradient by the output */
  gradient(dy: tf.Tensor2D, y: tf.Tensor2D): tf.Tensor2D;
}

/** Uses the gradient that is registered for a kernel, which a backend may compute in one pass. */
const registered =
  (kernel: string) =>
  (dy: tf.Tensor2D, y: tf.Tensor2D): tf.Tensor2D => {
    const { x } = (tf.getGradient(kernel) as tf.GradConfig).gradFunc(dy, [y], {});
    return (x as () => tf.Tensor2D)();
  };

/** By the class name of TensorFlow.js's activation. ReLU's output is positive where its input is. */
const activations: Readonly<Record<string, Activation>> = {
  sigmoid: { apply: (x) => tf.sigmoid(x), gradient: registered(tf.Sigmoid) },
  tanh: { apply: (x) => tf.tanh(x), gradient: registered(tf.Tanh) },
  relu: { apply: (x) => tf.relu(x), gradient: registered(tf.Relu) },
  linear: { apply: (x) => x, gradient: (dy) => dy },
  hardSigmoid: {
    apply: (x) => tf.clipByValue(tf.add(0.5, tf.mul(0.2, x)) as tf.Tensor2D, 0, 1),
    gradient: (dy, y) => {
      const inside = tf.logicalAnd(tf.greater(y, 0), tf.less(y, 1));
      return tf.mul(tf.mul(dy, 0.2), tf.cast(inside, "float32"));
    },
  },
};

export const activationOf = (className: string): Activation | undefined => activations[className];

export interface CellOptions {
  readonly units: number;
  readonly activation: Activation;
  readonly recurrentActivation: Activation;
}

/** A sequence after the forward pass. Lists are by time. */
export interface Forward {
  /** h_t, `[rows, units]`. */
  readonly outputs: readonly tf.Tensor2D[];
  /** Tensors other than the outputs that the backward pass needs. */
  readonly kept: readonly tf.Tensor2D[];
}

/** The gradients of a sequence. Lists are by time. */
interface Backward {
  /** By z_t, `[rows, gates × units]`. */
  readonly inputs: readonly tf.Tensor2D[];
  /** By U, `[units, gates × units]`. */
  readonly recurrentKernel: tf.Tensor2D;
}

export interface Cell {
  /** Widths of z_t and U in units. */
  readonly gates: number;
  /** @param z z_t by time, `[rows, gates × units]` */
  forward(z: readonly tf.Tensor2D[], recurrentKernel: tf.Tensor2D, options: CellOptions): Forward;
  /** @param dh gradient by h_t from outside of the sequence; undefined: none */
  backward(
    dh: readonly (tf.Tensor2D | undefined)[],
    forward: Forward,
    recurrentKernel: tf.Tensor2D,
    options: CellOptions,
  ): Backward;
}

const sum = (a: tf.Tensor2D | undefined, b: tf.Tensor2D | undefined): tf.Tensor2D =>
  a === undefined ? (b as tf.Tensor2D) : b === undefined ? a : tf.add(a, b);

/** Returns aᵀ·b summed over the steps: the products of all steps are one, over time and rows. */
function productOverTime(a: readonly tf.Tensor2D[], b: readonly tf.Tensor2D[]): tf.Tensor2D {
  return tf.matMul(tf.concat2d([...a], 0), tf.concat2d([...b], 0), true, false);
}

/** h_{t−1} by time: zeros, then all outputs but the last. */
function earlier(outputs: readonly tf.Tensor2D[]): readonly tf.Tensor2D[] {
  return [tf.zerosLike(outputs[0] as tf.Tensor2D), ...outputs.slice(0, -1)];
}

const split = (tensor: tf.Tensor2D, count: number): tf.Tensor2D[] => tf.split(tensor, count, 1);

/** h_t = φ(z_t + h_{t−1}·U) (Elman, 1990). */
export const simpleCell: Cell = {
  gates: 1,
  forward(z, recurrentKernel, { activation }) {
    const outputs: tf.Tensor2D[] = [];
    for (const step of z) {
      const before = outputs.at(-1);
      const sums = before === undefined ? step : tf.add(step, tf.matMul(before, recurrentKernel));
      outputs.push(activation.apply(sums as tf.Tensor2D));
    }
    return { outputs, kept: [] };
  },
  backward(dh, { outputs }, recurrentKernel, { activation }) {
    const inputs: tf.Tensor2D[] = [];
    for (let t = outputs.length - 1; t >= 0; t--) {
      const later = inputs[0] && (tf.matMul(inputs[0], recurrentKernel, false, true) as tf.Tensor2D);
      inputs.unshift(activation.gradient(sum(dh[t], later), outputs[t] as tf.Tensor2D));
    }
    return { inputs, recurrentKernel: productOverTime(earlier(outputs), inputs) };
  },
};

/**
 * LSTM (Hochreiter and Schmidhuber, 1997; forget gate: Gers et al., 2000).
 * i, f, o = σ(z + h_{t−1}·U), g = φ(z + h_{t−1}·U), c_t = f·c_{t−1} + i·g, h_t = o·φ(c_t)
 */
export const lstmCell: Cell = {
  gates: 4,
  forward(z, recurrentKernel, { activation, recurrentActivation: gate }) {
    const outputs: tf.Tensor2D[] = [];
    const kept: tf.Tensor2D[] = [];
    let state: tf.Tensor2D | undefined;
    for (const step of z) {
      const before = outputs.at(-1);
      const sums = before === undefined ? step : (tf.add(step, tf.matMul(before, recurrentKernel)) as tf.Tensor2D);
      const [zi, zf, zg, zo] = split(sums, 4) as [tf.Tensor2D, tf.Tensor2D, tf.Tensor2D, tf.Tensor2D];
      const [i, f, g, o] = [gate.apply(zi), gate.apply(zf), activation.apply(zg), gate.apply(zo)];
      const added: tf.Tensor2D = tf.mul(i, g);
      state = state === undefined ? added : tf.add(tf.mul(f, state), added);
      const active = activation.apply(state);
      outputs.push(tf.mul(o, active));
      kept.push(i, f, g, o, state, active);
    }
    return { outputs, kept };
  },
  backward(dh, { outputs, kept }, recurrentKernel, { activation, recurrentActivation: gate }) {
    const inputs: tf.Tensor2D[] = [];
    let dState: tf.Tensor2D | undefined;
    for (let t = outputs.length - 1; t >= 0; t--) {
      const [i, f, g, o, , active] = kept.slice(6 * t, 6 * t + 6) as [
        tf.Tensor2D,
        tf.Tensor2D,
        tf.Tensor2D,
        tf.Tensor2D,
        tf.Tensor2D,
        tf.Tensor2D,
      ];
      const before = t === 0 ? undefined : kept[6 * t - 2];
      const later = inputs[0] && (tf.matMul(inputs[0], recurrentKernel, false, true) as tf.Tensor2D);
      const dOutput = sum(dh[t], later);
      const dHere: tf.Tensor2D = sum(activation.gradient(tf.mul(dOutput, o), active), dState);
      const di = gate.gradient(tf.mul(dHere, g), i);
      const df = before === undefined ? tf.zerosLike(f) : gate.gradient(tf.mul(dHere, before), f);
      const dg = activation.gradient(tf.mul(dHere, i), g);
      const dOut = gate.gradient(tf.mul(dOutput, active), o);
      inputs.unshift(tf.concat2d([di, df, dg, dOut], 1));
      dState = tf.mul(dHere, f);
    }
    return { inputs, recurrentKernel: productOverTime(earlier(outputs), inputs) };
  },
};

/**
 * GRU (Cho et al., 2014); r acts before the product with U.
 * z, r = σ(z_t + h_{t−1}·U), k = φ(z_t + (r·h_{t−1})·U), h_t = z·h_{t−1} + (1 − z)·k
 */
export const gruCell: Cell = {
  gates: 3,
  forward(inputs, recurrentKernel, { units, activation, recurrentActivation: gate }) {
    const [gateKernel, candidateKernel] = kernelsOf(recurrentKernel, units);
    const outputs: tf.Tensor2D[] = [];
    const kept: tf.Tensor2D[] = [];
    for (const step of inputs) {
      const before = outputs.at(-1) ?? tf.zeros<tf.Rank.R2>([step.shape[0], units]);
      const [forGates, forCandidate] = tf.split(step, [2 * units, units], 1) as [tf.Tensor2D, tf.Tensor2D];
      const gates = gate.apply(tf.add(forGates, tf.matMul(before, gateKernel)));
      const [z, r] = split(gates, 2) as [tf.Tensor2D, tf.Tensor2D];
      const reset: tf.Tensor2D = tf.mul(r, before);
      const k = activation.apply(tf.add(forCandidate, tf.matMul(reset, candidateKernel)));
      outputs.push(tf.add(k, tf.mul(z, tf.sub(before, k))));
      kept.push(z, r, k, reset);
    }
    return { outputs, kept };
  },
  backward(dh, { outputs, kept }, recurrentKernel, { units, activation, recurrentActivation: gate }) {
    const [gateKernel, candidateKernel] = kernelsOf(recurrentKernel, units);
    const before = earlier(outputs);
    const dGates: tf.Tensor2D[] = [];
    const dCandidates: tf.Tensor2D[] = [];
    let later: tf.Tensor2D | undefined;
    for (let t = outputs.length - 1; t >= 0; t--) {
      const [z, r, k] = kept.slice(4 * t, 4 * t + 3) as [tf.Tensor2D, tf.Tensor2D, tf.Tensor2D];
      const h = before[t] as tf.Tensor2D;
      const dOutput = sum(dh[t], later);
      const kept1: tf.Tensor2D = tf.mul(dOutput, z);
      const dk = activation.gradient(tf.sub(dOutput, kept1), k);
      const dReset: tf.Tensor2D = tf.matMul(dk, candidateKernel, false, true);
      const dz = gate.gradient(tf.mul(dOutput, tf.sub(h, k)), z);
      const dr = gate.gradient(tf.mul(dReset, h), r);
      const dGate = tf.concat2d([dz, dr], 1);
      dGates.unshift(dGate);
      dCandidates.unshift(dk);
      const through = tf.add(tf.mul(dReset, r), tf.matMul(dGate, gateKernel, false, true)) as tf.Tensor2D;
      later = tf.add(kept1, through);
    }
    const resets = outputs.map((_, t) => kept[4 * t + 3] as tf.Tensor2D);
    return {
      inputs: dGates.map((dGate, t) => tf.concat2d([dGate, dCandidates[t] as tf.Tensor2D], 1)),
      recurrentKernel: tf.concat2d([productOverTime(before, dGates), productOverTime(resets, dCandidates)], 1),
    };
  },
};

/** Splits U into its part for the gates and its part for the candidate. */
const kernelsOf = (recurrentKernel: tf.Tensor2D, units: number) =>
  tf.split(recurrentKernel, [2 * units, units], 1) as [tf.Tensor2D, tf.Tensor2D];
