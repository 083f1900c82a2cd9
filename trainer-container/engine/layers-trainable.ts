import * as tf from "@tensorflow/tfjs-core";
import type { LayersModel } from "@tensorflow/tfjs-layers";
import type { SparseInputs } from "../../core/features/sparse";
import type { ModelDefinition, Rematerialise } from "../../core/runs/model-definition";
import { applyOutputActivation, artifactFormat, type ModelTopology } from "../tfjs/artifact";
import { canonicalNames, layerNames, renameStrings } from "./canonical-names";
import { drawKey, withDraws } from "./draws";
import {
  type Batch,
  type BatchResult,
  type EngineOptions,
  type EnginePass,
  type ModelLayer,
  type ModelOptimizer,
  type NonFinite,
  type OptimizerSettings,
  type ParameterSlot,
  passOfOne,
  type TrainableModel,
} from "./engine";
import { BatchError } from "./errors";
import { layOut } from "./layout";
import { memoryOptimizer } from "./memory-optimizer";
import { rematerialiseOf } from "./rematerialisation";
import { type BatchTensors, batchTensors, functionsThatKeep, readScored, type Scored, scoreBatch } from "./score";
import { withSeededRandom } from "./seeded-random";
import { withinScope } from "./tensor-scope";
import { computeModel, findNonFinite, reportCalls } from "./user-code";
import { withinMemory } from "./wasm/memory";

type LayerVariable = LayersModel["weights"][number];

/** The results of a forward and a backward pass. */
export interface Differentiated extends Scored {
  /** In the layout's order. Undefined if the loss does not depend on a weight. */
  readonly gradients: readonly (tf.Tensor | undefined)[];
}

/** Returns the layers that have weights, including those of nested models. A weight that layers share is the first one's. */
function layersWithWeights(
  layers: LayersModel["layers"],
  names: ReadonlyMap<string, string>,
  unassigned: Map<LayerVariable, ParameterSlot>,
): readonly ModelLayer[] {
  return layers.flatMap((layer) => {
    const nested = (layer as { readonly layers?: LayersModel["layers"] }).layers;
    if (nested) return layersWithWeights(nested, names, unassigned);
    const slots = layer.weights.flatMap((variable) => unassigned.get(variable) ?? []);
    for (const variable of layer.weights) unassigned.delete(variable);
    return slots.length === 0 ? [] : [{ name: names.get(layer.name) ?? layer.name, slots }];
  });
}

/** Leaves a kept tensor to the present `tf.tidy`. */
function released<T extends tf.Tensor>(kept: T): T {
  const tensor = tf.clone(kept);
  kept.dispose();
  return tensor;
}

function releaseAtEnd({ loss, outputs, metrics }: Scored): Scored {
  const named = Object.entries(metrics).map(([name, metric]) => [name, released(metric)] as const);
  return { loss, outputs: released(outputs), metrics: Object.fromEntries(named) };
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** Adapts a layers model to the engine's port; the same code on both backends. */
export class LayersTrainable implements TrainableModel {
  readonly layout: readonly ParameterSlot[];
  readonly layers: readonly ModelLayer[];
  readonly parameterCount: number;
  readonly trainableCount: number;
  readonly rematerialise: Rematerialise;
  readonly takesSparse = false;
  readonly maxSum = 1;
  private readonly variables: readonly LayerVariable[];
  private readonly statistics: readonly LayerVariable[];
  private readonly names: ReadonlyMap<string, string>;
  private readonly rowSize: number;
  private isCompared: boolean;

  constructor(
    private readonly model: LayersModel,
    readonly definition: ModelDefinition,
    private readonly report: Pick<EngineOptions, "onChangingModel" | "onKeptTensors"> = {},
  ) {
    this.isCompared = definition.type !== "module" || !Object.values(report).some(Boolean);
    this.names = canonicalNames([model.name, ...layerNames(model.layers)]);
    const reported = reportCalls(model.layers, this.names);
    this.rematerialise = rematerialiseOf(definition, reported);
    this.statistics = model.nonTrainableWeights;
    this.variables = [...model.trainableWeights, ...this.statistics];
    this.layout = layOut(this.variables, model.trainableWeights.length, this.names);
    const slots = new Map(this.variables.map((variable, index) => [variable, this.layout[index]!]));
    this.layers = layersWithWeights(model.layers, this.names, slots);
    this.parameterCount = sum(this.layout.map((slot) => slot.size));
    this.trainableCount = sum(this.layout.filter((slot) => slot.trainable).map((slot) => slot.size));
    this.rowSize = definition.inputShape.reduce((product, side) => product * side, 1);
  }

  /** Returns the bytes of the layers' outputs for a number of rows. */
  outputBytes(rows: number): number {
    const elements = (shape: readonly (number | null)[]) =>
      shape.reduce<number>((all, side) => all * (side ?? 1), rows);
    return Float32Array.BYTES_PER_ELEMENT * sum(outputShapes(this.model.layers).map(elements));
  }

  /** Returns the variables' present tensors, in the layout's order. */
  weightTensors(): readonly tf.Tensor[] {
    return this.variables.map((variable) => variable.read());
  }

  readWeights(into: Float32Array): void {
    this.checkFlat(into);
    this.layout.forEach((slot, index) => {
      into.set(this.variables[index]?.read().dataSync() as Float32Array, slot.offset);
    });
  }

  writeWeights(from: Float32Array): void {
    this.checkFlat(from);
    this.layout.forEach((slot, index) => {
      this.writeVariable(this.variables[index] as LayerVariable, from.slice(slot.offset, slot.offset + slot.size));
    });
  }

  /** The layers have weights of their own. */
  shareWeights(): void {}

  attachOptimizer(settings: OptimizerSettings, weights: Float32Array): ModelOptimizer {
    return memoryOptimizer(this, settings, weights);
  }

  begin(): EnginePass {
    return passOfOne((batch, randomKey, into) => this.gradients(batch, randomKey, into));
  }

  gradients(batch: Batch, randomKey: string, into: Float32Array): BatchResult {
    this.checkBatch(batch);
    this.checkFlat(into);
    const result = this.gradientsOf(batch, randomKey, into);
    if (!this.isCompared) {
      this.isCompared = true;
      const again = new Float32Array(into.length);
      const { numTensors } = tf.memory();
      const { loss } = this.gradientsOf(batch, randomKey, again);
      const keeps = tf.memory().numTensors > numTensors;
      const changes = !Object.is(loss, result.loss) || Buffer.compare(bytesOf(again), bytesOf(into)) !== 0;
      if (changes) this.report.onChangingModel?.();
      if (keeps) this.reportKept(batch, randomKey);
    }
    return result;
  }

  private reportKept(batch: Batch, randomKey: string): void {
    const find = () => {
      const { inputs, labels } = batchTensors(this.definition, batch);
      const outputs = this.model.apply(inputs, { training: false }) as tf.Tensor;
      return functionsThatKeep(this.definition, labels, outputs) as unknown as tf.TensorContainer;
    };
    const keptTensors = withSeededRandom(randomKey, () => tf.tidy(find)) as unknown as readonly string[];
    if (keptTensors.length > 0) this.report.onKeptTensors?.(keptTensors);
  }

  private gradientsOf(batch: Batch, randomKey: string, into: Float32Array): BatchResult {
    const pass = () => {
      const key = tf.tensor1d(drawKey(randomKey), "int32");
      const scored = this.differentiate(batchTensors(this.definition, batch), key);
      this.layout.forEach(({ offset, size }, index) => {
        const gradient = scored.gradients[index];
        if (gradient) into.set(gradient.dataSync() as Float32Array, offset);
        else into.fill(0, offset, offset + size);
      });
      return readScored(this.definition, batch, scored);
    };
    return withinMemory(() => withSeededRandom(randomKey, () => withinScope(pass)));
  }

  /**
   * One forward and backward pass within `tf.tidy`; the statistics are restored.
   * @param lossScale factor of the gradients, `[1]`; not of the statistics' part
   */
  differentiate(batch: BatchTensors, key: tf.Tensor, lossScale?: tf.Tensor): Differentiated {
    const before = this.statistics.map((variable) => tf.clone(variable.read()));
    const trained = this.variables.slice(0, this.variables.length - this.statistics.length);
    let scored: Scored | undefined;
    const differentiated = () =>
      tf.variableGrads(
        () => {
          scored = withDraws(key, () => scoreBatch(this.model, this.definition, batch, true));
          // The end of the backward pass disposes what is not kept.
          for (const tensor of [scored.outputs, ...Object.values(scored.metrics)]) tf.keep(tensor);
          return lossScale ? tf.mul(tf.keep(scored.loss), tf.reshape(lossScale, [])) : scored.loss;
        },
        trained.map((variable) => variable.read() as tf.Variable),
      );
    let grads: tf.NamedTensorMap;
    try {
      ({ grads } = computeModel(this.definition, differentiated));
    } catch (error) {
      for (const [index, variable] of this.statistics.entries()) variable.write(before[index] as tf.Tensor);
      throw error;
    }
    const moved = this.statistics.map((variable, index) => {
      const old = before[index] as tf.Tensor;
      const difference = tf.mul(tf.sub(old, variable.read()), batch.weight);
      variable.write(old);
      return difference;
    });
    if (lossScale) scored = { ...(scored as Scored), loss: released((scored as Scored).loss) };
    return { ...releaseAtEnd(scored as Scored), gradients: [...trained.map(({ name }) => grads[name]), ...moved] };
  }

  explainNonFinite(batch: Batch, randomKey: string): NonFinite | undefined {
    if (batch.sparse) return undefined;
    const nameOf = (layer: string) => this.names.get(layer) ?? layer;
    return withSeededRandom(randomKey, () =>
      withinScope(() => {
        const differentiate = () =>
          this.differentiate(batchTensors(this.definition, batch), tf.tensor1d(drawKey(randomKey), "int32"));
        return findNonFinite(this.model.layers, nameOf, differentiate);
      }),
    );
  }

  evaluate(batch: Batch): BatchResult {
    this.checkBatch(batch);
    const pass = () => {
      const scored = this.score(batchTensors(this.definition, batch));
      return readScored(this.definition, batch, scored);
    };
    return withinMemory(() => withinScope(pass));
  }

  /** Makes one forward pass without training behaviour. Call it within `tf.tidy`. */
  score(batch: BatchTensors): Scored {
    return computeModel(this.definition, () => scoreBatch(this.model, this.definition, batch, false));
  }

  predict(inputs: Float32Array, rows: number): Float32Array {
    this.checkInputs(inputs, rows);
    const { inputShape, outputs, task } = this.definition;
    const raw = withinScope(() => {
      const output = this.model.apply(tf.tensor(inputs, [rows, ...inputShape]), { training: false }) as tf.Tensor;
      return output.dataSync<"float32">();
    });
    return applyOutputActivation(task, Float32Array.from(raw), outputs);
  }

  topology(): string {
    const { task, inputShape, outputs } = this.definition;
    const topology: ModelTopology = {
      format: artifactFormat,
      task,
      inputShape,
      outputs,
      weights: this.model.weights.map(
        (weight) => this.layout[this.variables.findIndex((variable) => variable.id === weight.id)]?.name ?? "",
      ),
      model: renameStrings(this.model.toJSON(null, false), this.names) as Readonly<Record<string, unknown>>,
    };
    return JSON.stringify(topology);
  }

  dispose(): void {
    this.model.dispose();
  }

  /** Creates a new tensor each time: kernels cache packed weights by tensor, so memory must not change in place. */
  private writeVariable(variable: LayerVariable, values: Float32Array): void {
    const value = tf.tensor(values, variable.shape as number[]);
    variable.write(value);
    value.dispose();
  }

  /** @throws BatchError */
  checkFlat(buffer: Float32Array): void {
    if (buffer.length === this.parameterCount) return;
    throw new BatchError(`A flat buffer of this model has ${this.parameterCount} elements; got ${buffer.length}.`);
  }

  private checkInputs(inputs: Float32Array, rows: number): void {
    if (rows > 0 && inputs.length === rows * this.rowSize) return;
    throw new BatchError(
      `${rows} rows of shape [${this.definition.inputShape}] take ${rows * this.rowSize} inputs; got ${inputs.length}.`,
    );
  }

  private checkSparse({ entries, positions, values }: SparseInputs, rows: number): void {
    const pairs = rows * entries;
    if (rows > 0 && positions.length === pairs && values.length === pairs) return;
    throw new BatchError(
      `${rows} sparse rows take ${pairs} positions and values; got ${positions.length} and ${values.length}.`,
    );
  }

  /** @throws BatchError */
  checkBatch(batch: Batch, takesSparse = false): void {
    if (batch.sparse === undefined || !takesSparse) this.checkInputs(batch.inputs, batch.rows);
    else this.checkSparse(batch.sparse, batch.rows);
    const labels = this.definition.task === "regression" ? batch.rows * this.definition.outputs : batch.rows;
    if (batch.labels.length !== labels) {
      throw new BatchError(`${batch.rows} rows take ${labels} labels; got ${batch.labels.length}.`);
    }
    if (batch.weights && batch.weights.length !== batch.rows) {
      throw new BatchError(`${batch.rows} rows take ${batch.rows} weights; got ${batch.weights.length}.`);
    }
  }
}

/** Returns the shapes of all outputs, including those inside nested models. */
function outputShapes(layers: LayersModel["layers"]): readonly (readonly (number | null)[])[] {
  return layers.flatMap((layer) => {
    const shapes = layer.inboundNodes.flatMap(({ outputShapes: found }) =>
      // A model of one layer has the shape itself.
      Array.isArray(found[0]) ? (found as (number | null)[][]) : [found as (number | null)[]],
    );
    return [...shapes, ...outputShapes((layer as Partial<LayersModel>).layers ?? [])];
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, value) => total + value, 0);
