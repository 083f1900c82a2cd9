import * as tf from "@tensorflow/tfjs-core";
import type { GraphNode, Value } from "../../../adapters/saved-model/graph-def";
import { canonicalAdditions } from "../../reduction/tree";
import type { ParameterSlot } from "../engine";
import { ModelError, RecordingDiffers } from "../errors";
import type { LayersTrainable } from "../layers-trainable";
import { attributesOf, type NativeBackend } from "../native/op";
import { hasOwnOperations, treeSum } from "../native/own-operations";
import { bytesOfPass, chooseCuts, memoryLimit } from "./cuts";
import { inputShapes, type PassShape, trace } from "./passes";
import { type IsCut, Recorder, type Recording } from "./recorder";
import { comparable, scaledNodes } from "./scaled-nodes";
import { Staging } from "./staging";

export interface Recorded {
  readonly outputs: readonly Value[];
  /** The outputs, as the tape computed them; undefined: it did not, see `PassRecorder.recordMore`. */
  readonly tensors: readonly tf.Tensor[] | undefined;
  /** See `Traced.gradients`. */
  readonly gradients: readonly Value[];
  readonly metrics: readonly string[];
}

/** See `PassInputs.vector`. */
export const vectorShape = [-1];
/** Factor of the loss in a recording. */
export const recordedLossScale = 1;

/** Rows of the pass that is recorded to predict others, or to estimate their memory. */
const sampleRows = 2;
/** Rows of a pass that is compared with the tape instead of one of more rows. */
const comparedRows = 4;
/** The tape holds several times the layers' outputs, and then spends most of its time on new memory. */
const maxTapeBytes = 128 * 1024 * 1024;

/** Records a model's passes from its layers. */
export class PassRecorder {
  /** Whether passes are cut if `rematerialise` is `auto`. By rows of a microshard. */
  private readonly chosen = new Map<number, IsCut>();
  private readonly ownOperations: boolean;

  constructor(
    private readonly backend: NativeBackend,
    private readonly layers: LayersTrainable,
  ) {
    this.ownOperations = hasOwnOperations(backend.binding);
  }

  /** Records a pass with the layers' present weights. Call it within `tf.tidy`. */
  record(staging: Staging): Recording<Recorded> {
    return this.recordCut(staging, this.cutsOf(staging.shape));
  }

  /** Returns the first rows of a microshard that is too large for the tape; undefined: the tape computes it as a whole. */
  headOf(staging: Staging): Staging | undefined {
    const { rows, microshards } = staging.shape;
    if (microshards > 1 || rows <= comparedRows || this.layers.outputBytes(rows) <= maxTapeBytes) return undefined;
    return staging.head(comparedRows);
  }

  /**
   * Records a pass without computing it, from that of its first rows. Each of its nodes must be that pass's, except for the
   * numbers that are proportional to the rows, and for other constants than integers.
   *
   * @returns undefined if it must be computed
   */
  recordMore(staging: Staging, head: Staging, { nodes }: Recording<Recorded>): Recording<Recorded> | undefined {
    const { rows } = staging.shape;
    const sample = head.head(sampleRows);
    try {
      const isCut = this.cutsOf(staging.shape);
      const small = tf.tidy(() => this.recordCut(sample, () => false).nodes as unknown as tf.TensorContainer);
      const samples = [
        { nodes: small as unknown as typeof nodes, rows: sampleRows },
        { nodes, rows: head.shape.rows },
      ];
      const expected = scaledNodes(samples[0]!, samples[1]!, rows);
      return expected && this.recordCut(staging, isCut, staging.keys, expected, comparable);
    } catch {
      return undefined; // an error of the model appears when it is computed
    } finally {
      sample.dispose(this.backend.binding);
    }
  }

  private cutsOf({ kind, rows, weighted, microshards }: PassShape): IsCut {
    const { rematerialise } = this.layers;
    if (kind === "evaluation" || microshards > 1 || rematerialise === "none") return () => false;
    if (rematerialise !== "auto") return (layer) => rematerialise.includes(layer);
    const known = this.chosen.get(rows) ?? this.chooseCuts(rows, weighted);
    this.chosen.set(rows, known);
    return known;
  }

  /** Records a pass of few rows. Its layers end in the same order. */
  private chooseCuts(rows: number, weighted: boolean): IsCut {
    const shape: PassShape = { kind: "gradients", rows: Math.min(rows, sampleRows), weighted, microshards: 1 };
    const staging = new Staging(this.layers.definition, shape);
    for (const values of [staging.inputs, staging.labels, staging.keys, staging.weights]) values?.fill(0);
    staging.weight.fill(shape.rows);
    try {
      return tf.tidy(() => {
        const { nodes, ends, result } = this.recordCut(staging, () => false);
        const pass = { nodes, ends, results: result.outputs.slice(0, 1) };
        const cuts = (bytesOfPass(pass) / shape.rows) * rows > memoryLimit() ? chooseCuts(pass) : new Set();
        return ((_, index) => cuts.has(index)) as IsCut & tf.TensorContainer;
      });
    } finally {
      staging.dispose(this.backend.binding);
    }
  }

  private recordCut(
    staging: Staging,
    isCut: IsCut,
    drawKeys = staging.keys,
    expected?: Recording<Recorded>["nodes"],
    form?: (node: GraphNode) => GraphNode,
  ): Recording<Recorded> {
    const { shape, weights, lossScale } = staging;
    const shapes = inputShapes(this.layers.definition, shape);
    const tensors = {
      inputs: tf.tensor(staging.inputs, [...shapes.inputs]),
      labels: tf.tensor(staging.labels, [...shapes.labels]),
      weight: tf.tensor(staging.weight, [...shapes.weight]),
      keys: tf.tensor(drawKeys, [...shapes.keys]),
      ...(weights === undefined ? {} : { weights: tf.tensor(weights, [...shapes.weights]) }),
      ...(lossScale === undefined ? {} : { lossScale: tf.fill([...shapes.lossScale], recordedLossScale) }),
      vector: tf.tensor1d([...vectorShape], "int32"),
    };
    return new Recorder(this.backend, isCut, expected, form).record(
      [...Object.values(tensors), ...this.layers.weightTensors()],
      (recorder) => {
        const { results, gradients, metrics } = trace(this.layers, shape, tensors, (terms) =>
          this.ownOperations ? treeSum(this.backend, terms) : this.addTerms(terms, tensors.vector),
        );
        const valuesOf = (all: readonly tf.Tensor[]) => all.map((each) => recorder.valueOf(each));
        const found = { outputs: valuesOf(results), gradients: valuesOf(gradients), metrics };
        return { ...found, tensors: expected ? undefined : results };
      },
    );
  }

  /** Adds in the canonical order. TensorFlow's graph optimizer reorders sums of tensors whose shapes it knows. */
  private addTerms(terms: readonly tf.Tensor[], shape: tf.Tensor): tf.Tensor {
    const { float, int32 } = attributesOf(this.backend.binding);
    const attributes = [float("T"), int32("Tshape")];
    const slots = terms.map((term) => this.backend.executeSingleOutput("Reshape", attributes, [term, shape]));
    for (const { into, from } of canonicalAdditions(slots.length)) {
      slots[into] = tf.add(slots[into] as tf.Tensor, slots[from] as tf.Tensor);
    }
    return slots[0] as tf.Tensor;
  }

  /** Returns why a graph would differ from the model: user code may compute something else in each call. */
  changes(staging: Staging, first: Recording<Recorded>): Error | undefined {
    if (first.result.tensors === undefined) return undefined; // the pass of its first rows was checked
    const otherKeys = staging.keys.map((half) => ~half);
    try {
      tf.tidy(() => void this.recordCut(staging, () => false, otherKeys, first.nodes));
      return undefined;
    } catch (error) {
      if (!(error instanceof RecordingDiffers)) throw error;
      return new Error("its operations or constants differ between two calls");
    }
  }
}

/** Largest accepted difference of two float32 results, relative to the largest element, or absolute below 1. */
const tolerance = 1e-5;
/**
 * TF32 keeps 10 bits of a factor, so the tape and a graph, which may compute products in another order, can choose another maximum
 * or another side of a ReLU in some places. Single elements of a gradient then differ much, but the gradient as a whole little.
 */
const tf32Tolerance = { loss: 1e-2, gradient: 0.1 };

/**
 * @param tensors the outputs, as the tape computed them
 * @param found their values in the graph
 * @param lossScale power of two by which found gradients are multiplied, but not running statistics
 * @param tf32 whether products of the two were rounded to TF32
 * @throws ModelError if they are not those of the tape
 */
export function requireEqual(
  tensors: readonly tf.Tensor[],
  found: readonly ArrayLike<number>[],
  layout: readonly ParameterSlot[],
  lossScale = 1,
  tf32 = false,
): void {
  const trained = layout.reduce((total, { size, trainable }) => total + (trainable ? size : 0), 0);
  tensors.forEach((tensor, index) => {
    const expected = tensor.dataSync() as Float32Array;
    const values = found[index] as ArrayLike<number>;
    const computed = expected.map((_, i) => (values[i] as number) / (index > 0 && i < trained ? lossScale : 1));
    const at =
      tf32 && index > 0
        ? differentAsAWhole(expected, computed, tf32Tolerance.gradient)
        : firstDifferent(expected, computed, tf32 ? tf32Tolerance.loss : tolerance);
    if (at === -1) return;
    const slot = layout.find(({ offset, size }) => at < offset + size);
    const where = index === 0 ? "loss or metrics" : `gradient of ${slot?.name}`;
    throw new ModelError(
      `The model's graph gives ${computed[at]} for its ${where}, where its operations one by one give ${expected[at]}. ` +
        "Set graph: false in defineTraining to compute it without a graph.",
    );
  });
}

/** Returns the first place with a difference above the tolerance, relative to the largest element or to 1; -1: none. */
function firstDifferent(expected: Float32Array, computed: Float32Array, accepted: number): number {
  const scale = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 1);
  return expected.findIndex((value, i) => Math.abs((computed[i] as number) - value) > accepted * scale);
}

/** Returns the place of the largest difference, if the norm of all is above the tolerance, relative to the norm or to 1; -1: it is not. */
function differentAsAWhole(expected: Float32Array, computed: Float32Array, accepted: number): number {
  const differences = expected.map((value, i) => Math.abs((computed[i] as number) - value));
  const norm = (values: Float32Array): number => Math.sqrt(values.reduce((total, value) => total + value * value, 0));
  if (!(norm(differences) > accepted * Math.max(1, norm(expected)))) return -1;
  return differences.reduce((most, value, i) => (value > (differences[most] as number) ? i : most), 0);
}
