import type { SparseInputs } from "../../../core/features/sparse";
import type { MlpDefinition } from "../../../core/runs/model-definition";
import type { Batch, BatchResult, OnFinal, ParameterSlot } from "../engine";
import type { NativeBinding } from "../native-binding";
import { checkClasses, countCorrect, weightOf, withHeadLabels } from "../score";
import { denseStage, type Stage } from "./dense-stage";
import { lossHead } from "./loss-head";
import { attributesOf } from "./op";
import { Operations, type TensorId } from "./operations";
import { TensorReader, WeightTensors } from "./shared-tensors";
import { SparseFirstStage } from "./sparse-first-stage";

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
