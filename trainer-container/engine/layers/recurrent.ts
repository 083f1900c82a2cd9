/** Replaces the computation of TensorFlow.js's recurrent layers, which runs dozens of small operations and their tape per step. */
import * as tf from "@tensorflow/tfjs-core";
import { layers } from "@tensorflow/tfjs-layers";
import { lstmSequenceGradientKernel, lstmSequenceKernel } from "../../tfjs/kernels/lstm";
import { activationOf, type Cell, type CellOptions, type Forward, gruCell, lstmCell, simpleCell } from "./cells";

/**
 * A whole LSTM as one kernel. Inputs: `x` `[time, rows, features]`, `kernel` (W above U), `bias`; gates i, f, g, o.
 * Outputs `[time, rows, units]`: i, c, f, o, g, tanh(c), h.
 */
export const fusedLstmKernel = "FusedLstm";
/**
 * Inputs: the same, `output0` to `output6`, and `dh` of the last steps, `[steps, rows, units]`. Outputs: by `x`,
 * `kernel`, `bias`.
 */
export const fusedLstmGradientKernel = "FusedLstmGradient";

const hasFusedLstm = (): boolean => tf.getKernel(fusedLstmKernel, tf.getBackend()) !== undefined;

interface Weights {
  readonly kernel: tf.Tensor2D;
  readonly recurrentKernel: tf.Tensor2D;
  readonly bias: tf.Tensor1D | undefined;
}

/** Computes h of all steps, or of the last one. @param x `[time, rows, features]` */
function fusedLstm(x: tf.Tensor3D, { kernel, recurrentKernel, bias }: Weights, returnSequences: boolean): tf.Tensor {
  const [time, rows] = x.shape;
  const [units] = recurrentKernel.shape;
  const both = tf.concat2d([kernel, recurrentKernel], 0);
  const lstm = tf.customGrad((...given) => {
    const [inputs, weights, offset, save] = given as unknown as [
      tf.Tensor3D,
      tf.Tensor2D,
      tf.Tensor1D,
      (tensors: tf.Tensor[]) => void,
    ];
    const named = { x: inputs, kernel: weights, bias: offset };
    const outputs = tf.engine().runKernel(fusedLstmKernel, named) as tf.Tensor3D[];
    save([inputs, weights, offset, ...outputs]);
    const h = outputs[6] as tf.Tensor3D;
    const gradFunc = (dy: tf.Tensor, saved: tf.Tensor[]): tf.Tensor[] => {
      const [savedX, savedKernel, savedBias, ...states] = saved as [tf.Tensor, tf.Tensor, tf.Tensor, ...tf.Tensor[]];
      const dh = tf.reshape(dy, returnSequences ? h.shape : [1, rows, units]);
      const byName = Object.fromEntries(states.map((state, index) => [`output${index}`, state]));
      const all = { x: savedX, kernel: savedKernel, bias: savedBias, ...byName, dh };
      return tf.engine().runKernel(fusedLstmGradientKernel, all) as tf.Tensor[];
    };
    const value = returnSequences ? h : tf.reshape(tf.slice(h, [time - 1, 0, 0], [1, rows, units]), [rows, units]);
    return { value, gradFunc };
  });
  return lstm(x, both, bias ?? tf.zeros([4 * units])) as tf.Tensor;
}

const hasLstmSequence = (): boolean => tf.getKernel(lstmSequenceKernel, tf.getBackend()) !== undefined;

/**
 * @param z x_t·W + b of all steps, `[time × rows, 4 × units]`
 * @returns all h_t, `[time × rows, units]`, or the last one
 */
function lstmSequence(z: tf.Tensor2D, kernel: tf.Tensor2D, time: number, returnSequences: boolean): tf.Tensor2D {
  const [all, units] = [z.shape[0], kernel.shape[0]];
  const rows = all / time;
  const compute = tf.customGrad((...given) => {
    const [inputs, recurrent, save] = given as unknown as [tf.Tensor2D, tf.Tensor2D, (tensors: tf.Tensor[]) => void];
    const named = { z: inputs, kernel: recurrent };
    const outputs = tf.engine().runKernel(lstmSequenceKernel, named, { time }) as tf.Tensor2D[];
    save([recurrent, ...outputs]);
    const gradFunc = (dh: tf.Tensor, saved: tf.Tensor[]): tf.Tensor[] => {
      const [savedKernel, h, gates, state, active] = saved as [tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor];
      const all = { kernel: savedKernel, h, gates, state, active, dh };
      return tf.engine().runKernel(lstmSequenceGradientKernel, all, { time }) as tf.Tensor[];
    };
    const h = outputs[0] as tf.Tensor2D;
    return { value: returnSequences ? h : tf.slice(h, [all - rows, 0], [rows, units]), gradFunc };
  });
  return compute(z, kernel) as tf.Tensor2D;
}

interface RecurrentLayer {
  readonly goBackwards: boolean;
  readonly returnSequences: boolean;
  readonly returnState: boolean;
  readonly stateful: boolean;
  readonly cell: {
    readonly units: number;
    readonly dropout?: number;
    readonly recurrentDropout?: number;
    readonly activation: { getClassName(): string };
    readonly recurrentActivation?: { getClassName(): string };
    readonly kernel: { read(): tf.Tensor2D };
    readonly recurrentKernel: { read(): tf.Tensor2D };
    readonly bias?: { read(): tf.Tensor1D } | null;
    getClassName(): string;
  };
  call(
    inputs: tf.Tensor | tf.Tensor[],
    options: Readonly<Record<string, unknown>> | undefined,
  ): tf.Tensor | tf.Tensor[];
}

const [tanh, sigmoid] = [activationOf("tanh"), activationOf("sigmoid")];
const cells: Readonly<Record<string, Cell>> = { SimpleRNNCell: simpleCell, LSTMCell: lstmCell, GRUCell: gruCell };

let installed = false;

/** Installs the computation for all recurrent layers of this process. Configurations outside of it keep the stock one. */
export function installRecurrent(): void {
  if (installed) return;
  installed = true;
  const lstm = Object.getPrototypeOf(layers.lstm({ units: 1 })) as object;
  const prototype = Object.getPrototypeOf(lstm) as RecurrentLayer; // class RNN, which LSTM, GRU and SimpleRNN call
  const { call } = prototype;
  prototype.call = function (this: RecurrentLayer, inputs, options) {
    const cell = cellOf(this, options ?? {});
    if (cell === undefined) return call.call(this, inputs, options);
    return tf.tidy(() => compute(this, cell, (Array.isArray(inputs) ? inputs[0] : inputs) as tf.Tensor3D));
  };
}

function cellOf(
  { cell, stateful, returnState }: RecurrentLayer,
  { mask, initialState, training }: Readonly<Record<string, unknown>>,
): (CellOptions & { readonly cell: Cell }) | undefined {
  const kind = cells[cell.getClassName()];
  if (!kind) return undefined; // stacked cells have no activation
  const activation = activationOf(cell.activation.getClassName());
  const recurrentActivation = activationOf(cell.recurrentActivation?.getClassName() ?? "linear");
  const drops = training === true && ((cell.dropout ?? 0) > 0 || (cell.recurrentDropout ?? 0) > 0);
  const special = stateful || returnState || drops || isGiven(mask) || isGiven(initialState);
  if (!activation || !recurrentActivation || special) return undefined;
  return { cell: kind, units: cell.units, activation, recurrentActivation };
}

const isGiven = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(isGiven) : value !== undefined && value !== null;

function compute(
  { cell: variables, goBackwards, returnSequences }: RecurrentLayer,
  { cell, ...options }: CellOptions & { readonly cell: Cell },
  inputs: tf.Tensor3D,
): tf.Tensor {
  const [rows, time, features] = inputs.shape;
  const byTime = tf.transpose(goBackwards ? tf.reverse(inputs, 1) : inputs, [1, 0, 2]);
  const bias = variables.bias?.read();
  const [kernel, recurrentKernel] = [variables.kernel.read(), variables.recurrentKernel.read()];
  const isStandard = options.activation === tanh && options.recurrentActivation === sigmoid;
  let outputs: tf.Tensor;
  if (cell === lstmCell && isStandard && hasFusedLstm()) {
    outputs = fusedLstm(byTime as tf.Tensor3D, { kernel, recurrentKernel, bias }, returnSequences);
  } else {
    const products = tf.matMul(tf.reshape(byTime, [time * rows, features]), kernel);
    const z = (bias ? tf.add(products, bias) : products) as tf.Tensor2D;
    const isKernel = cell === lstmCell && isStandard && hasLstmSequence();
    outputs = isKernel
      ? lstmSequence(z, recurrentKernel, time, returnSequences)
      : sequence(z, recurrentKernel, cell, options, time, returnSequences);
  }
  if (!returnSequences) return outputs;
  return tf.transpose(tf.reshape(outputs, [time, rows, options.units]), [1, 0, 2]);
}

/**
 * @param z x_t·W + b of all steps, `[time × rows, gates × units]`
 * @returns all h_t, `[time × rows, units]`, or the last one
 */
function sequence(
  z: tf.Tensor2D,
  recurrentKernel: tf.Tensor2D,
  cell: Cell,
  options: CellOptions,
  time: number,
  returnSequences: boolean,
): tf.Tensor2D {
  const compute = tf.customGrad((...given) => {
    const [inputs, kernel, save] = given as unknown as [tf.Tensor2D, tf.Tensor2D, (tensors: tf.Tensor[]) => void];
    const { outputs, kept } = cell.forward(tf.split(inputs, time, 0), kernel, options);
    save([kernel, ...outputs, ...kept]);
    const value = returnSequences ? tf.concat2d([...outputs], 0) : tf.clone(outputs.at(-1) as tf.Tensor2D);
    const gradFunc = (dy: tf.Tensor, saved: tf.Tensor[]): tf.Tensor[] => {
      const [savedKernel, ...states] = saved as [tf.Tensor2D, ...tf.Tensor2D[]];
      const forward: Forward = { outputs: states.slice(0, time), kept: states.slice(time) };
      const dh: (tf.Tensor2D | undefined)[] = returnSequences
        ? tf.split(dy as tf.Tensor2D, time, 0)
        : Array.from({ length: time }, (_, t) => (t === time - 1 ? (dy as tf.Tensor2D) : undefined));
      const gradients = cell.backward(dh, forward, savedKernel, options);
      return [tf.concat2d([...gradients.inputs], 0), gradients.recurrentKernel];
    };
    return { value, gradFunc };
  });
  return compute(z, recurrentKernel) as tf.Tensor2D;
}
