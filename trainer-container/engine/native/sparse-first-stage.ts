import type { SparseInputs } from "../../../core/features/sparse";
import type { Activation } from "../../../core/runs/model-definition";
import { allocateSum, releaseSum } from "../../collective/sum-memory";
import { type DenseParameters, sparseBackward, sparseForward } from "../../kernels/sparse-layer";
import type { NativeBinding } from "../native-binding";
import { activationOf } from "./dense-stage";
import { attributesOf, type OpAttribute } from "./op";
import type { Operations, TensorId } from "./operations";
import type { TensorReader } from "./shared-tensors";

/**
 * The first dense layer over sparse rows. A kernel (`kernels/sparse-layer.ts`) computes sums and ReLU; TensorFlow computes
 * other activations.
 */
export class SparseFirstStage {
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

  /** Sets the inputs of the current call. */
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
