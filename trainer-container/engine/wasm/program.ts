import type { CnnDefinition, MlpDefinition, ModelDefinition } from "../../../core/runs/model-definition";
import type { Buffers, Simd } from "../../tfjs/simd/simd";
import { imageShape } from "../built-in-models";
import { drawKey } from "../draws";
import { type Batch, type BatchResult, type EnginePass, type OnFinal, type ParameterSlot, passOfOne } from "../engine";
import type { GradientProgram } from "../program-trainable";
import { checkClasses, countCorrect, withHeadLabels } from "../score";
import { type Dropout, dropoutAfter } from "./dropout";
import { convolutionStage, denseStage, lossHead, type Stage, sparseStage, type Workshop } from "./stages";

const float = 4;

/** Whether a model's gradient can be expressed as stages: built-in, ReLU or linear, filters divisible by four. */
export function isProgrammable(definition: ModelDefinition): definition is MlpDefinition | CnnDefinition {
  if (definition.type === "module") return false;
  if (!["relu", "linear"].includes(definition.activation ?? "relu")) return false;
  return definition.type === "mlp" || definition.filters.every((filters) => filters % 4 === 0);
}

/** A built-in model's gradient as a fixed sequence of kernels at fixed addresses. A step allocates nothing. */
export class WasmProgram implements GradientProgram {
  readonly takesSparse: boolean;
  readonly maxSum = 1;
  readonly weights = {
    write: (from: Float32Array) => {
      if (from !== this.shared) {
        this.shared = undefined; // the memory belongs to another caller
        this.view("weights").set(from);
      }
      this.version += 1;
    },
    read: (into: Float32Array) => into.set(this.shared ?? this.view("weights")),
    share: (memory: Float32Array) => {
      if (this.simd.holds(memory)) this.shared = memory;
      this.weights.write(memory);
    },
  };
  /** Weights at another position of this memory. */
  private shared: Float32Array | undefined;
  private version = 0;
  /** Address of the current call's gradient. */
  private gradient = 0;
  private readonly buffers: Buffers<string>;
  private readonly stages: readonly Stage[];
  /** By stage; empty without dropout. */
  private readonly dropouts: readonly (Dropout | undefined)[];
  /** Replaces the first stage for sparse rows. */
  private readonly sparse: ReturnType<typeof sparseStage>;
  private readonly parameters: number;
  private readonly rowSize: number;

  constructor(
    private readonly simd: Simd,
    private readonly definition: MlpDefinition | CnnDefinition,
    private readonly layout: readonly ParameterSlot[],
  ) {
    this.buffers = simd.buffers();
    this.parameters = layout.reduce((total, { size }) => total + size, 0);
    this.rowSize = product(definition.inputShape);
    this.stages = this.build(layout);
    this.dropouts = this.dropoutsOf(layout);
    this.takesSparse = definition.type === "mlp";
    this.sparse = sparseStage(0, this.workshop(0), this.rowSize, layout[0]?.shape.at(-1) as number);
  }

  private view(name: "weights" | "gradients"): Float32Array {
    return this.simd.floats(this.buffers.at(name, this.parameters * float), this.parameters);
  }

  private workshop(index: number): Workshop {
    const { simd, buffers, definition, layout, parameters } = this;
    const [kernel, bias] = layout.slice(2 * index, 2 * index + 2) as [ParameterSlot, ParameterSlot];
    const at = (base: number) => ({ kernel: base + kernel.offset * float, bias: base + bias.offset * float });
    const last = 2 * index + 2 === layout.length;
    return {
      simd,
      buffers,
      weights: () => at(this.shared?.byteOffset ?? buffers.at("weights", parameters * float)),
      gradients: () => at(this.gradient),
      rectified: (definition.activation ?? "relu") === "relu" && !last,
      version: () => this.version,
    };
  }

  private build(layout: readonly ParameterSlot[]): readonly Stage[] {
    const { definition } = this;
    const convolutions = definition.type === "cnn" ? definition.filters.length : 0;
    let shape: readonly number[] =
      definition.type === "cnn" ? imageShape(definition.inputShape) : definition.inputShape;
    return Array.from({ length: layout.length / 2 }, (_, index) => {
      const kernel = layout[2 * index] as ParameterSlot;
      const workshop = this.workshop(index);
      const units = kernel.shape.at(-1) as number;
      const [height = 0, width = 0, channels = 0] = shape;
      const inputs = product(shape);
      shape = index < convolutions ? [height >> 1, width >> 1, units] : [units];
      return index < convolutions
        ? convolutionStage(index, workshop, [height, width, channels], kernel.shape)
        : denseStage(index, workshop, inputs, units);
    });
  }

  private dropoutsOf(layout: readonly ParameterSlot[]): readonly (Dropout | undefined)[] {
    const { hidden, dropout = 0 } = this.definition;
    if (dropout === 0) return [];
    const first = layout.length / 2 - 1 - hidden.length;
    const ofHidden = hidden.map((units, at) => dropoutAfter(first + at, this.simd, this.buffers, units, dropout));
    return [...Array.from({ length: first }, () => undefined), ...ofHidden];
  }

  /** The pass throws BatchError if a label is no class. */
  begin(): EnginePass {
    return passOfOne((...batch) => this.gradients(...batch));
  }

  private gradients(batch: Batch, randomKey: string, into: Float32Array, onFinal?: OnFinal): BatchResult {
    const { simd, buffers, definition } = this;
    const { rows, weights } = batch;
    if (definition.task === "classification") checkClasses(definition, batch.labels);
    const inPlace = this.simd.holds(into);
    this.gradient = inPlace ? into.byteOffset : buffers.at("gradients", this.parameters * float);
    const { sparse } = batch;
    const key = drawKey(randomKey);
    let at = 0;
    for (const [index, stage] of this.stages.entries()) {
      if (index > 0) at = stage.forward(at, rows);
      else at = sparse ? this.sparse.forward(sparse, rows) : this.firstForward(batch);
      const dropout = this.dropouts[index];
      if (dropout === undefined) continue;
      key[1] = (key[1] as number) + 1; // as on the tape, see `installDraws`
      dropout.forward(at, rows, key);
    }
    const size = rows * definition.outputs;
    let dy: number | undefined = buffers.at("loss gradient", size * float);
    const outputs = simd.floats(at, size);
    const weighted = withHeadLabels(definition, batch);
    const loss = lossHead(definition.task, weighted, definition.outputs, outputs, simd.floats(dy, size));
    const result: BatchResult = {
      loss,
      weight: weights ? weights.reduce((total, value) => total + value, 0) : rows,
      ...(definition.task === "regression" ? {} : { correct: countCorrect(definition, batch, outputs) }),
    };
    for (let index = this.stages.length - 1; index >= 0; index--) {
      this.dropouts[index]?.backward(dy as number, rows);
      if (sparse && index === 0) this.sparse.backward(sparse, dy as number, rows);
      else dy = (this.stages[index] as Stage).backward(dy as number, rows, index > 0);
      const [kernel, bias] = this.layout.slice(2 * index, 2 * index + 2) as [ParameterSlot, ParameterSlot];
      const end = bias.offset + bias.size;
      if (!inPlace) into.set(this.view("gradients").subarray(kernel.offset, end), kernel.offset);
      onFinal?.(kernel.offset, end);
    }
    return result;
  }

  private firstForward({ inputs, rows }: Batch): number {
    const first = this.stages[0] as Stage;
    if (this.simd.holds(inputs)) return first.forward(inputs.byteOffset, rows);
    const at = this.buffers.at("inputs", rows * this.rowSize * float);
    this.simd.floats(at, rows * this.rowSize).set(inputs);
    return first.forward(at, rows);
  }

  dispose(): void {
    this.buffers.dispose();
  }
}

const product = (shape: readonly number[]): number => shape.reduce((total, side) => total * side, 1);
