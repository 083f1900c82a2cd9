/**
 * Stateless draws: Philox 4×32-10 (Salmon et al. 2011). TensorFlow's own draw of classes keeps a state between calls,
 * so draws would depend on the worker.
 */
import * as tf from "@tensorflow/tfjs-core";
import { type Draw, type DrawKept, installDraws } from "../draws";
import { attributesOf, type NativeBackend, nativeBackendName, type OpAttribute, replaceKernel } from "./operations";

export function registerDraws(backend: NativeBackend): void {
  const { binding } = backend;
  const { int32 } = attributesOf(binding);
  const attributes = [
    { name: "dtype", type: binding.TF_ATTR_TYPE, value: binding.TF_FLOAT },
    int32("T"),
    int32("Tseed"),
  ];
  const stateless =
    (op: string): Draw =>
    (shape, key) =>
      backend.executeSingleOutput(op, attributes, [tf.tensor1d([...shape], "int32"), key]);
  installDraws(nativeBackendName, {
    uniform: stateless("StatelessRandomUniform"),
    normal: stateless("StatelessRandomNormal"),
    kept: keptBy(backend),
  });
}

/** The binding has no name for `TF_INT16`. */
const int16 = 5;

/** Draws by 16 bits each: half the time of a float of 32 bits, and half the memory. */
function keptBy(backend: NativeBackend): DrawKept {
  const { TF_ATTR_TYPE, TF_INT32, TF_BOOL, TF_FLOAT } = backend.binding;
  const type = (name: string, value: number) => ({ name, type: TF_ATTR_TYPE, value });
  const drawing = [type("dtype", TF_INT32), type("T", TF_INT32), type("Tseed", TF_INT32)];
  const halving = [type("T", TF_INT32), type("type", int16)];
  const reshaping = [type("T", int16), type("Tshape", TF_INT32)];
  const slicing = [type("T", int16), type("Index", TF_INT32)];
  const narrowing = [type("SrcT", TF_INT32), type("DstT", int16)];
  const counting = [type("SrcT", TF_BOOL), type("DstT", TF_FLOAT)];
  return (shape, key, dropped) => {
    const { binding } = backend; // another one during a recording
    const created: number[] = [];
    const run = (op: string, attributes: readonly OpAttribute[], inputs: readonly number[]): number => {
      const [{ id } = { id: -1 }] = binding.executeOp(op, attributes, inputs, 1);
      created.push(id);
      return id;
    };
    const integers = (values: readonly number[], dimensions: readonly number[]): number => {
      const id = binding.createTensor(dimensions, TF_INT32, Int32Array.from(values));
      created.push(id);
      return id;
    };
    const list = (...values: number[]) => integers(values, [values.length]);
    const elements = tf.util.sizeFromShape([...shape]);
    const [keyId = -1] = backend.getInputTensorIds([key]);
    const pairs = run("StatelessRandomUniformFullInt", drawing, [list(Math.ceil(elements / 2)), keyId]);
    const halves = run("Bitcast", halving, [pairs]);
    const all =
      elements % 2 === 0
        ? halves
        : run("Slice", slicing, [run("Reshape", reshaping, [halves, list(elements + 1)]), list(0), list(elements)]);
    const drawn = run("Reshape", reshaping, [all, list(...shape)]);
    const threshold = run("Cast", narrowing, [integers([dropped - 2 ** 15], [])]);
    const mask = run("GreaterEqual", [type("T", int16)], [drawn, threshold]);
    const [floats] = binding.executeOp("Cast", counting, [mask], 1);
    for (const id of created) binding.deleteTensor(id);
    return backend.createOutputTensor(floats as { readonly id: number; readonly dtype: number });
  };
}

export function registerMultinomial(): void {
  replaceKernel(tf.Multinomial, ({ inputs, attrs }) => {
    const logits = inputs["logits"] as tf.Tensor2D;
    const { numSamples, seed, normalized } = attrs as unknown as tf.MultinomialAttrs;
    const [rows, classes] = logits.shape;
    return tf.tidy(() => {
      const shares = normalized ? logits : tf.softmax(logits);
      const bounds = tf.slice(tf.cumsum(shares, 1), [0, 0], [rows, classes - 1]);
      const draws = tf.randomUniform([rows, numSamples, 1], 0, 1, "float32", seed);
      return tf.sum(tf.cast(tf.greaterEqual(draws, tf.expandDims(bounds, 1)), "int32"), 2);
    });
  });
}
