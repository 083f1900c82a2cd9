/** Replaces the computation of TensorFlow.js's recurrent layers, which runs dozens of small operations and their tape per step. */
import * as tf from "@tensorflow/tfjs-core";
import { layers } from "@tensorflow/tfjs-layers";
import { activationOf } from "./activations";
import { type Cell, type CellOptions, type Forward, gruCell, lstmCell, simpleCell } from "./cells";
import { fusedLstm, hasFusedLstm } from "./fused-lstm";
import { hasLstmSequence, lstmSequence } from "./lstm-sequence";

/** The part of a recurrent layer that is used. */
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
  const known = cells[cell.getClassName()];
  if (!known) return undefined; // stacked cells have no activation
  const activation = activationOf(cell.activation.getClassName());
  const recurrentActivation = activationOf(cell.recurrentActivation?.getClassName() ?? "linear");
  const drops = training === true && ((cell.dropout ?? 0) > 0 || (cell.recurrentDropout ?? 0) > 0);
  const special = stateful || returnState || drops || isGiven(mask) || isGiven(initialState);
  if (!activation || !recurrentActivation || special) return undefined;
  return { cell: known, units: cell.units, activation, recurrentActivation };
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
 * Computes the steps of a sequence, with the gradient of `cells.ts`.
 *
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
