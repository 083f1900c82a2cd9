import type { CnnDefinition, MlpDefinition, ModelDefinition } from "../../../core/runs/model-definition";
import { imageShape } from "../built-in-models";
import type { Batch, BatchResult, OnFinal, ParameterSlot } from "../engine";
import type { NativeBinding } from "../native-binding";
import { checkClasses, countCorrect } from "../score";
import { lossHead } from "./loss-head";
import { Operations, type TensorId } from "./operations";
import type { NativeKernels } from "./register";
import { TensorReader, WeightTensors } from "./shared-tensors";
import { SparseFirstStage } from "./sparse-first-stage";
import { convolutionStage, denseStage, type Stage } from "./stages";

/** Whether a model's gradient can be expressed as stages: the built-in ones without dropout. */
export function isProgrammable(
  definition: ModelDefinition,
  { programs }: NativeKernels,
): definition is MlpDefinition | CnnDefinition {
  if (programs === "none" || definition.type === "module" || definition.dropout) return false;
  return definition.type === "mlp" || programs === "all";
}

/** The gradient of a built-in model as a fixed sequence of TensorFlow's operations, without a tape. */
export class NativeProgram {
  readonly weights: WeightTensors;
  readonly takesSparse: boolean;
  private readonly operations: Operations;
  private readonly reader: TensorReader;
  private readonly stages: readonly Stage[];
  /** Replaces the first stage for sparse rows. */
  private readonly sparse: SparseFirstStage | undefined;
  private readonly rowShape: readonly number[];

  constructor(
    private readonly binding: NativeBinding,
    private readonly definition: MlpDefinition | CnnDefinition,
    private readonly layout: readonly ParameterSlot[],
  ) {
    this.operations = new Operations(binding);
    this.reader = new TensorReader(binding, this.operations);
    this.weights = new WeightTensors(binding, layout);
    this.rowShape = definition.type === "cnn" ? imageShape(definition.inputShape) : definition.inputShape;
    this.stages = this.build();
    this.takesSparse = definition.type === "mlp";
    const activation = definition.hidden.length > 0 ? (definition.activation ?? "relu") : "linear";
    const weights = { kernel: () => this.weights.view(0), bias: () => this.weights.view(1) };
    this.sparse = this.takesSparse ? new SparseFirstStage(binding, this.reader, weights, activation) : undefined;
  }

  private build(): readonly Stage[] {
    const { binding, definition, layout } = this;
    const activation = definition.activation ?? "relu";
    const convolutions = definition.type === "cnn" ? definition.filters.length : 0;
    let shape = this.rowShape;
    return Array.from({ length: layout.length / 2 }, (_, index) => {
      const weights = { kernel: () => this.weights.id(2 * index), bias: () => this.weights.id(2 * index + 1) };
      const kernelShape = layout[2 * index]?.shape as readonly number[];
      const input = shape;
      if (index < convolutions) {
        const [height = 0, width = 0, channels = 0] = input;
        shape = [height >> 1, width >> 1, kernelShape.at(-1) as number];
        return convolutionStage(binding, weights, activation, [height, width, channels], kernelShape);
      }
      shape = kernelShape.slice(1);
      const last = 2 * index + 2 === layout.length;
      return denseStage(binding, weights, last ? "linear" : activation, input);
    });
  }

  gradients(batch: Batch, _randomKey: string, into: Float32Array, onFinal?: OnFinal): BatchResult {
    const { definition, operations, stages } = this;
    const { rows } = batch;
    if (definition.task === "classification") checkClasses(definition, batch.labels);
    try {
      const sparse = batch.sparse && this.sparse?.with(batch.sparse);
      let tensor = sparse
        ? sparse.forward(operations, rows)
        : (stages[0] as Stage).forward(operations, operations.tensor([rows, ...this.rowShape], batch.inputs), rows);
      for (const stage of stages.slice(1)) tensor = stage.forward(operations, tensor, rows);
      const outputs = operations.read(tensor);
      const { loss, gradient } = lossHead(operations, this.binding, definition, batch, tensor, outputs);
      this.backward(gradient, rows, into, sparse, onFinal);
      return {
        loss,
        weight: batch.weights ? batch.weights.reduce((total, value) => total + value, 0) : rows,
        ...(definition.task === "regression" ? {} : { correct: countCorrect(definition, batch, outputs) }),
      };
    } finally {
      operations.release();
    }
  }

  private backward(
    gradient: TensorId,
    rows: number,
    into: Float32Array,
    sparse: SparseFirstStage | undefined,
    onFinal?: OnFinal,
  ): void {
    let dy = gradient;
    for (let index = this.stages.length - 1; index >= 0; index--) {
      const [first, last] = this.layout.slice(2 * index, 2 * index + 2) as [ParameterSlot, ParameterSlot];
      if (index === 0 && sparse !== undefined) {
        const of = ({ offset, size }: ParameterSlot) => into.subarray(offset, offset + size);
        sparse.backward(this.operations, dy, { kernel: of(first), bias: of(last) });
      } else {
        const stage = this.stages[index] as Stage;
        const { kernel, bias, input } = stage.backward(this.operations, dy, rows, index > 0);
        this.put(kernel, 2 * index, into);
        this.put(bias, 2 * index + 1, into);
        if (input !== undefined) dy = input;
      }
      onFinal?.(first.offset, last.offset + last.size);
    }
  }

  private put(id: TensorId, slot: number, into: Float32Array): void {
    const { offset, size } = this.layout[slot] as ParameterSlot;
    this.reader.copy(id, into.subarray(offset, offset + size));
  }

  dispose(): void {
    this.sparse?.dispose();
    this.reader.dispose();
    this.operations.dispose();
    this.weights.dispose();
  }
}
