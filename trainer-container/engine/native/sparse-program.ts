/** Gradients of a built-in mlp from sparse rows, as TensorFlow's operations, with the formulas of `score.ts`. */

import type { SparseInputs } from "../../../core/features/sparse";
import type { Activation, MlpDefinition, ModelDefinition } from "../../../core/runs/model-definition";
import { type DenseParameters, sparseBackward, sparseForward } from "../../kernels/sparse-layer";
import { allocateSum, releaseSum } from "../../kernels/sum-memory";
import type { Batch, BatchResult, OnFinal, ParameterSlot } from "../engine";
import type { NativeBinding } from "../native-binding";
import { checkClasses, countCorrect, weightOf, withHeadLabels } from "../score";
import { attributesOf, type OpAttribute, Operations, type TensorId } from "./operations";
import { TensorReader, WeightTensors } from "./shared-tensors";

interface Stage {
  forward(operations: Operations, input: TensorId): TensorId;
  /** Returns the gradients by the weights and by the input. @param dy gradient by the output */
  backward(operations: Operations, dy: TensorId): StageGradients;
}

interface StageGradients {
  readonly kernel: TensorId;
  readonly bias: TensorId;
  readonly input: TensorId;
}

interface StageWeights {
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
function activationOf(activation: Activation, float: OpAttribute) {
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
function denseStage(binding: NativeBinding, { kernel, bias }: StageWeights, activation: Activation): Stage {
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

/** The first dense layer over sparse rows: a kernel computes sums and ReLU, TensorFlow other activations. */
class SparseFirstStage {
  private readonly activation: ReturnType<typeof activationOf>;
  private readonly rectified: boolean;
  private readonly float: readonly OpAttribute[];
  private inputs: SparseInputs = { entries: 0, positions: new Int32Array(0), values: new Float32Array(0) };
  private output: Float32Array = new Float32Array(0);
  private outputTensor: TensorId = -1;
  /** Gradient by the sums. */
  private gradient: Float32Array = new Float32Array(0);

  constructor(
    binding: NativeBinding,
    private readonly reader: TensorReader,
    private readonly weights: { readonly kernel: () => Float32Array; readonly bias: () => Float32Array },
    activation: Activation,
  ) {
    this.float = [attributesOf(binding).float("T")];
    this.rectified = activation === "relu";
    this.activation = activationOf(activation, this.float[0] as OpAttribute);
  }

  with(inputs: SparseInputs): this {
    this.inputs = inputs;
    return this;
  }

  forward(operations: Operations, rows: number): TensorId {
    const [kernel, bias] = [this.weights.kernel(), this.weights.bias()];
    this.resize(rows * bias.length);
    sparseForward(this.inputs, { kernel, bias }, this.output, this.rectified);
    this.outputTensor = operations.tensor([rows, bias.length], this.output);
    return this.rectified ? this.outputTensor : this.activation.forward(operations, this.outputTensor);
  }

  backward(operations: Operations, dy: TensorId, into: DenseParameters): void {
    const dz = this.rectified
      ? operations.run("ReluGrad", this.float, [dy, this.outputTensor])
      : this.activation.backward(operations, dy);
    this.reader.copy(dz, this.gradient);
    sparseBackward(this.inputs, this.gradient, into);
  }

  private resize(size: number): void {
    if (this.output.length === size) return;
    this.dispose();
    this.output = allocateSum(size);
    this.gradient = allocateSum(size);
  }

  dispose(): void {
    releaseSum(this.output);
    releaseSum(this.gradient);
    this.output = new Float32Array(0);
    this.gradient = new Float32Array(0);
  }
}

interface Head {
  /** Σ weight × loss. */
  readonly loss: number;
  /** Weighted, `[rows, outputs]`. */
  readonly gradient: TensorId;
}

/** @param outputs values of the tensor `output`, `[rows, outputs]` */
function lossHead(
  operations: Operations,
  binding: NativeBinding,
  definition: ModelDefinition,
  batch: Batch,
  output: TensorId,
  values: Float32Array,
): Head {
  const { rows, weights } = batch;
  if (definition.task === "classification") return classification(operations, binding, batch, output);
  const gradient = new Float32Array(values.length);
  const width = definition.outputs;
  const row = definition.task === "binary" ? sigmoidCrossEntropy : meanSquaredError;
  let loss = 0;
  for (let i = 0; i < rows; i++) loss += row(values, batch.labels, i, width, weights?.[i] ?? 1, gradient);
  return { loss: Math.fround(loss), gradient: operations.tensor([rows, width], gradient) };
}

function classification(
  operations: Operations,
  binding: NativeBinding,
  { rows, labels, weights }: Batch,
  output: TensorId,
): Head {
  const { float, int32 } = attributesOf(binding);
  const indices = operations.indices(labels);
  const attributes = [float("T"), int32("Tlabels")];
  const outputs = operations.runFor("SparseSoftmaxCrossEntropyWithLogits", attributes, [output, indices], 2);
  const [rowLoss, gradient] = outputs as [TensorId, TensorId];
  const losses = operations.read(rowLoss);
  let loss = 0;
  for (let i = 0; i < rows; i++) loss += (losses[i] as number) * (weights?.[i] ?? 1);
  if (!weights) return { loss: Math.fround(loss), gradient };
  const column = operations.tensor([rows, 1], weights);
  return { loss: Math.fround(loss), gradient: operations.run("Mul", [float("T")], [gradient, column]) };
}

/** Writes a row's gradient; returns its loss, both weighted. */
type RowLoss = (
  values: Float32Array,
  labels: ArrayLike<number>,
  row: number,
  width: number,
  weight: number,
  gradient: Float32Array,
) => number;

const sigmoidCrossEntropy: RowLoss = (values, labels, row, _, weight, gradient) => {
  const [z, y] = [values[row] as number, labels[row] as number];
  gradient[row] = weight * (1 / (1 + Math.exp(-z)) - y);
  return weight * (Math.max(z, 0) - z * y + Math.log1p(Math.exp(-Math.abs(z))));
};

const meanSquaredError: RowLoss = (values, labels, row, width, weight, gradient) => {
  let total = 0;
  for (let i = row * width; i < (row + 1) * width; i++) {
    const error = (values[i] as number) - Math.fround(labels[i] as number);
    gradient[i] = (weight * 2 * error) / width;
    total += error * error;
  }
  return (weight * total) / width;
};

/** The gradient of a built-in mlp from sparse rows, as a fixed sequence of operations. A graph takes dense rows only. */
export class SparseProgram {
  readonly weights: WeightTensors;
  /** See `TrainableModel.scaleLoss`. */
  lossScale = 1;
  private readonly operations: Operations;
  private readonly reader: TensorReader;
  private readonly first: SparseFirstStage;
  private readonly others: readonly Stage[];

  constructor(
    private readonly binding: NativeBinding,
    private readonly definition: MlpDefinition,
    private readonly layout: readonly ParameterSlot[],
  ) {
    this.operations = new Operations(binding);
    this.reader = new TensorReader(binding, this.operations);
    this.weights = new WeightTensors(binding, layout);
    const hidden = definition.activation ?? "relu";
    const layers = layout.length / 2;
    const activationOf = (layer: number) => (layer === layers - 1 ? "linear" : hidden);
    const firstWeights = { kernel: () => this.weights.view(0), bias: () => this.weights.view(1) };
    this.first = new SparseFirstStage(binding, this.reader, firstWeights, activationOf(0));
    this.others = Array.from({ length: layers - 1 }, (_, index) => {
      const slot = 2 * index + 2;
      const weights = { kernel: () => this.weights.id(slot), bias: () => this.weights.id(slot + 1) };
      return denseStage(binding, weights, activationOf(index + 1));
    });
  }

  gradients(batch: Batch, inputs: SparseInputs, into: Float32Array, onFinal?: OnFinal): BatchResult {
    const { definition, operations, others } = this;
    if (definition.task === "classification") checkClasses(definition, batch.labels);
    try {
      let tensor = this.first.with(inputs).forward(operations, batch.rows);
      for (const stage of others) tensor = stage.forward(operations, tensor);
      const outputs = operations.read(tensor);
      const weighted = withHeadLabels(definition, batch);
      const { loss, gradient } = lossHead(operations, this.binding, definition, weighted, tensor, outputs);
      this.backward(this.scaled(gradient), into, onFinal);
      return {
        loss,
        weight: weightOf(batch),
        ...(definition.task === "regression" ? {} : { correct: countCorrect(definition, batch, outputs) }),
      };
    } finally {
      operations.release();
    }
  }

  private scaled(gradient: TensorId): TensorId {
    if (this.lossScale === 1) return gradient;
    const factor = this.operations.tensor([], Float32Array.of(this.lossScale));
    return this.operations.run("Mul", [attributesOf(this.binding).float("T")], [gradient, factor]);
  }

  private backward(gradient: TensorId, into: Float32Array, onFinal?: OnFinal): void {
    let dy = gradient;
    for (let index = this.others.length; index >= 0; index--) {
      const [first, last] = this.layout.slice(2 * index, 2 * index + 2) as [ParameterSlot, ParameterSlot];
      const of = ({ offset, size }: ParameterSlot) => into.subarray(offset, offset + size);
      if (index === 0) this.first.backward(this.operations, dy, { kernel: of(first), bias: of(last) });
      else {
        const { kernel, bias, input } = (this.others[index - 1] as Stage).backward(this.operations, dy);
        this.reader.copy(kernel, of(first));
        this.reader.copy(bias, of(last));
        dy = input;
      }
      onFinal?.(first.offset, last.offset + last.size);
    }
  }

  dispose(): void {
    this.first.dispose();
    this.reader.dispose();
    this.operations.dispose();
    this.weights.dispose();
  }
}
