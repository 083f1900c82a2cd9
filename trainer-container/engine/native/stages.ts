/** Layers of the built-in models, forward and back, as TensorFlow's operations. Images are NHWC, convolutions `same` with stride 1. */
import type { Activation } from "../../../core/runs/model-definition";
import type { NativeBinding } from "../native-binding";
import { attributesOf, type OpAttribute } from "./op";
import type { Operations, TensorId } from "./operations";

/** One part of the model. It keeps the data for its gradient from `forward` to `backward`. */
export interface Stage {
  forward(operations: Operations, input: TensorId, rows: number): TensorId;
  /**
   * @param dy gradient by the output
   * @param wantInput whether the gradient by the input is needed; the first stage's is not
   * @returns the gradients by the weights, and by the input
   */
  backward(operations: Operations, dy: TensorId, rows: number, wantInput: boolean): StageGradients;
}

interface StageGradients {
  readonly kernel: TensorId;
  readonly bias: TensorId;
  readonly input: TensorId | undefined;
}

/** The weights of a stage, read at each step. */
export interface StageWeights {
  readonly kernel: () => TensorId;
  readonly bias: () => TensorId;
}

interface ActivationOps {
  readonly op: string;
  readonly gradient: string;
  readonly gradientFirst: boolean;
}

/** Gradients from the activation's output. ReLU's gradient may use the output as well as the input. */
const activations: Readonly<Record<Exclude<Activation, "linear">, ActivationOps>> = {
  relu: { op: "Relu", gradient: "ReluGrad", gradientFirst: true },
  relu6: { op: "Relu6", gradient: "Relu6Grad", gradientFirst: true },
  elu: { op: "Elu", gradient: "EluGrad", gradientFirst: true },
  selu: { op: "Selu", gradient: "SeluGrad", gradientFirst: true },
  tanh: { op: "Tanh", gradient: "TanhGrad", gradientFirst: false },
  sigmoid: { op: "Sigmoid", gradient: "SigmoidGrad", gradientFirst: false },
};

/** Creates an activation stage: forward keeps the output, backward multiplies by the derivative there. */
export function activationOf(activation: Activation, float: OpAttribute) {
  if (activation === "linear") {
    return { forward: (_: Operations, x: TensorId) => x, backward: (_: Operations, dy: TensorId) => dy };
  }
  const { op, gradient, gradientFirst } = activations[activation];
  let output: TensorId = -1;
  return {
    forward(operations: Operations, x: TensorId): TensorId {
      output = operations.run(op, [float], [x]);
      return output;
    },
    backward: (operations: Operations, dy: TensorId): TensorId =>
      operations.run(gradient, [float], gradientFirst ? [dy, output] : [output, dy]),
  };
}

/**
 * `BatchMatMulV2`, not `MatMul`: with TensorFlow 2.21 processes that call the latter under `--cpu-prof` end with a corrupted heap (ADR 012).
 */
const productOp = "BatchMatMulV2";

/** Creates a dense stage: `units` of activation(x·kernel + bias). An image is read as one row of numbers. */
export function denseStage(
  binding: NativeBinding,
  { kernel, bias }: StageWeights,
  activation: Activation,
  input: readonly number[],
): Stage {
  const { float, int32, flag, text } = attributesOf(binding);
  const T = float("T");
  const product = (a: boolean, b: boolean) => [T, flag("adj_x", a), flag("adj_y", b)];
  const [plain, forKernel, forInput] = [product(false, false), product(true, false), product(false, true)];
  const biased = [T, text("data_format", "NHWC")];
  const act = activationOf(activation, T);
  const flatten = input.length > 1;
  const width = input.reduce((total, side) => total * side, 1);
  const reshape = [T, int32("Tshape")];
  let x: TensorId = -1;
  return {
    forward(operations, given, rows) {
      x = flatten ? operations.run("Reshape", reshape, [given, operations.integers([rows, width])]) : given;
      return act.forward(
        operations,
        operations.run("BiasAdd", biased, [operations.run(productOp, plain, [x, kernel()]), bias()]),
      );
    },
    backward(operations, dy, rows, wantInput) {
      const dz = act.backward(operations, dy);
      const dx = wantInput ? operations.run(productOp, forInput, [dz, kernel()]) : undefined;
      return {
        kernel: operations.run(productOp, forKernel, [x, dz]),
        bias: operations.run("BiasAddGrad", biased, [dz]),
        input:
          flatten && dx !== undefined
            ? operations.run("Reshape", reshape, [dx, operations.integers([rows, ...input])])
            : dx,
      };
    },
  };
}

/**
 * Creates a stage of activation(max-pool(convolution + bias)). The layers define pool(activation(…)). An activation never
 * decreases, so the result is the same, on a quarter of the memory. If it maps different values to one (saturation), the
 * gradient goes to the largest of them.
 */
export function convolutionStage(
  binding: NativeBinding,
  { kernel, bias }: StageWeights,
  activation: Activation,
  input: readonly [height: number, width: number, channels: number],
  kernelShape: readonly number[],
): Stage {
  const { float, int32, flag, integers, text } = attributesOf(binding);
  const T = float("T");
  const byName = text("_kernel", "MklNameChangeOp");
  const format = text("data_format", "NHWC");
  const convolve = [
    T,
    integers("strides", [1, 1, 1, 1]),
    text("padding", "SAME"),
    format,
    integers("dilations", [1, 1, 1, 1]),
  ];
  const pool = [
    T,
    integers("ksize", [1, 2, 2, 1]),
    integers("strides", [1, 2, 2, 1]),
    text("padding", "VALID"),
    format,
    flag("workspace_enabled", true),
    byName,
  ];
  const sum = [T, int32("Tidx"), flag("keep_dims", false)];
  const act = activationOf(activation, T);
  let [x, convolved, pooled, places]: TensorId[] = [-1, -1, -1, -1];
  return {
    forward(operations, given) {
      x = given;
      convolved = operations.run("_MklNativeConv2DWithBias", [...convolve, byName], [x, kernel(), bias()]);
      [pooled, places] = operations.runFor("_MklNativeMaxPool", pool, [convolved], 2);
      return act.forward(operations, pooled as TensorId);
    },
    backward(operations, dy, rows, wantInput) {
      const inputs = [convolved, pooled, act.backward(operations, dy), places] as TensorId[];
      const dz = operations.run("_MklNativeMaxPoolGrad", pool, inputs);
      const shape = operations.integers(kernelShape);
      return {
        kernel: operations.run("Conv2DBackpropFilter", convolve, [x as TensorId, shape, dz]),
        bias: operations.run("Sum", sum, [dz, operations.integers([0, 1, 2])]),
        input: wantInput
          ? operations.run("Conv2DBackpropInput", convolve, [operations.integers([rows, ...input]), kernel(), dz])
          : undefined,
      };
    },
  };
}

/** Whether this library has the operations of a convolution stage, tested on one image: 2·x + 1, pooled, and back. */
export function convolutionWorks(binding: NativeBinding, operations: Operations): boolean {
  try {
    const kernel = operations.tensor([1, 1, 1, 1], new Float32Array([2]));
    const bias = operations.tensor([1], new Float32Array([1]));
    const weights = { kernel: () => kernel, bias: () => bias };
    const stage = convolutionStage(binding, weights, "relu", [2, 2, 1], [1, 1, 1, 1]);
    const output = stage.forward(operations, operations.tensor([1, 2, 2, 1], new Float32Array([1, 2, 4, 3])), 1);
    const gradients = stage.backward(operations, operations.tensor([1, 1, 1, 1], new Float32Array([3])), 1, true);
    const read = [output, gradients.kernel, gradients.bias, gradients.input as TensorId].map((id) =>
      operations.read(id).join(),
    );
    return read.join(" ") === "9 12 3 0,0,6,0";
  } catch {
    return false;
  } finally {
    operations.dispose();
  }
}
