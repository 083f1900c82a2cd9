/** Dense layers, forward and back, as TensorFlow's operations. */
import type { Activation } from "../../../core/runs/model-definition";
import type { NativeBinding } from "../native-binding";
import { attributesOf, type OpAttribute } from "./op";
import type { Operations, TensorId } from "./operations";

/** One layer. It keeps the data for its gradient from `forward` to `backward`. */
export interface Stage {
  forward(operations: Operations, input: TensorId): TensorId;
  /** Returns the gradients by the weights and by the input. @param dy gradient by the output */
  backward(operations: Operations, dy: TensorId): StageGradients;
}

interface StageGradients {
  readonly kernel: TensorId;
  readonly bias: TensorId;
  readonly input: TensorId;
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
 * `BatchMatMulV2`, not `MatMul`: with TensorFlow 2.21 processes that call the latter under `--cpu-prof` end with a corrupted heap (ADR 006).
 */
const productOp = "BatchMatMulV2";

/** Creates a dense stage: `units` of activation(x·kernel + bias). */
export function denseStage(binding: NativeBinding, { kernel, bias }: StageWeights, activation: Activation): Stage {
  const { float, flag, text } = attributesOf(binding);
  const T = float("T");
  const product = (a: boolean, b: boolean) => [T, flag("adj_x", a), flag("adj_y", b)];
  const [plain, forKernel, forInput] = [product(false, false), product(true, false), product(false, true)];
  const biased = [T, text("data_format", "NHWC")];
  const act = activationOf(activation, T);
  let x: TensorId = -1;
  return {
    forward(operations, input) {
      x = input;
      return act.forward(
        operations,
        operations.run("BiasAdd", biased, [operations.run(productOp, plain, [x, kernel()]), bias()]),
      );
    },
    backward(operations, dy) {
      const dz = act.backward(operations, dy);
      return {
        kernel: operations.run(productOp, forKernel, [x, dz]),
        bias: operations.run("BiasAddGrad", biased, [dz]),
        input: operations.run(productOp, forInput, [dz, kernel()]),
      };
    },
  };
}
