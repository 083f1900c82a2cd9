/**
 * Records a model's passes. The tape of many rows would need too much memory, so its *head*, the pass of its first
 * rows, is recorded and compared, and the whole's nodes follow from it and a smaller *sample* (`scaledNodes`). If cuts
 * are to be chosen, a recording of few rows shows the sizes.
 */
import * as tf from "@tensorflow/tfjs-core";
import type { Value } from "../../../adapters/saved-model/graph-def";
import { canonicalAdditions } from "../../reduction/plan";
import { RecordingDiffers } from "../errors";
import type { LayersTrainable } from "../layers-trainable";
import { attributesOf, hasOwnOperations, type NativeBackend, treeSum } from "../native/operations";
import { withinScope } from "../tensor-scope";
import { bytesOfPass, chooseCuts, memoryLimit } from "./cuts";
import { type IsCut, Recorder, type RecorderOptions, type Recording } from "./recorder";
import { comparable, scaledNodes } from "./scaled-nodes";
import { inputShapes, type PassInputs, type PassShape, Staging, trace } from "./staging";

export interface Recorded {
  readonly outputs: readonly Value[];
  /** The outputs, as the tape computed them; undefined: it did not, see `PassRecorder.recordScaled`. */
  readonly tensors: readonly tf.Tensor[] | undefined;
  /** See `Traced.gradients`. */
  readonly gradients: readonly Value[];
  readonly metrics: readonly string[];
  /** Whether its head has the same bits if the cuts' values are computed again; undefined: there is no head, or no cut. */
  readonly sameWithCuts?: boolean | undefined;
}

/** See `PassInputs.vector`. */
export const vectorShape = [-1];
/** Factor of the loss in a recording. */
export const recordedLossScale = 1;

const sampleRows = 2;
const headRows = 4;
/** The tape holds several times the layers' outputs, and then spends most of its time on new memory. */
const maxTapeBytes = 128 * 1024 * 1024;

const nowhere: IsCut = () => false;

export class PassRecorder {
  /** The cuts if `rematerialise` is `auto`, by rows of a micro-batch. */
  private readonly chosenCuts = new Map<number, IsCut>();
  private readonly ownOperations: boolean;

  constructor(
    private readonly backend: NativeBackend,
    private readonly layers: LayersTrainable,
  ) {
    this.ownOperations = hasOwnOperations(backend.binding);
  }

  /** Records a pass with the present weights, within `tf.tidy`. `shape`: that of the pass whose head is recorded. */
  record(staging: Staging, shape: PassShape = staging.shape): Recording<Recorded> {
    return this.recordPass(staging, { isCut: this.cutsOf(shape) });
  }

  /** Returns the head of a pass that is too large for the tape; undefined: the tape computes it as a whole. */
  headOf(staging: Staging): Staging | undefined {
    const { rows, microBatches } = staging.shape;
    if (microBatches > 1 || rows <= headRows || this.layers.outputBytes(rows) <= maxTapeBytes) return undefined;
    return staging.head(headRows);
  }

  /**
   * Records a pass without computing it: its nodes are its head's, but for numbers proportional to the rows and
   * non-integer constants. @returns undefined if it must be computed
   */
  recordScaled(staging: Staging, head: Staging, { nodes }: Recording<Recorded>): Recording<Recorded> | undefined {
    const sample = head.head(sampleRows);
    try {
      const isCut = this.cutsOf(staging.shape);
      const sampleNodes = withinScope(() => this.recordPass(sample, { isCut }).nodes);
      const samples = [
        { nodes: sampleNodes, rows: sampleRows },
        { nodes, rows: head.shape.rows },
      ] as const;
      const expected = scaledNodes(...samples, staging.shape.rows);
      return expected && this.recordPass(staging, { isCut, expected: { nodes: expected, form: comparable } });
    } catch {
      return undefined; // an error of the model appears when it is computed
    } finally {
      sample.dispose(this.backend.binding);
    }
  }

  /** Records a pass again, and returns why it differs. User code may compute something else in each call. */
  obstacleToRepeat(staging: Staging, { nodes, result }: Recording<Recorded>): Error | undefined {
    if (result.tensors === undefined) return undefined; // its head was repeated
    const otherKeys = staging.keys.map((half) => ~half);
    try {
      withinScope(() => void this.recordPass(staging, { expected: { nodes } }, otherKeys));
      return undefined;
    } catch (error) {
      if (!(error instanceof RecordingDiffers)) throw error;
      return new Error("its operations or constants differ between two calls");
    }
  }

  private cutsOf({ kind, rows, weighted, microBatches }: PassShape): IsCut {
    const { rematerialise } = this.layers;
    if (kind === "evaluation" || microBatches > 1 || rematerialise === "none") return nowhere;
    if (rematerialise !== "auto") return (layer) => rematerialise.includes(layer);
    const cuts = this.chosenCuts.get(rows) ?? this.chooseCuts(rows, weighted);
    this.chosenCuts.set(rows, cuts);
    return cuts;
  }

  /** Chooses cuts by a recording of few rows, whose layers end in the same order. */
  private chooseCuts(rows: number, weighted: boolean): IsCut {
    const shape: PassShape = { kind: "gradients", rows: Math.min(rows, sampleRows), weighted, microBatches: 1 };
    const staging = new Staging(this.layers.definition, shape);
    for (const values of [staging.inputs, staging.labels, staging.keys, staging.weights]) values?.fill(0);
    staging.weight.fill(shape.rows);
    try {
      const { nodes, ends, result } = withinScope(() => this.recordPass(staging));
      const pass = { nodes, ends, results: result.outputs.slice(0, 1) };
      const bytes = (bytesOfPass(pass) / shape.rows) * rows;
      if (bytes <= memoryLimit()) return nowhere;
      const cuts = chooseCuts(pass);
      return (_, end) => cuts.has(end);
    } finally {
      staging.dispose(this.backend.binding);
    }
  }

  /** @param keys of the random draws */
  private recordPass(
    staging: Staging,
    options: RecorderOptions = {},
    keys: Int32Array = staging.keys,
  ): Recording<Recorded> {
    const { layers } = this;
    const inputs = tensorsOf(staging, inputShapes(layers.definition, staging.shape), keys);
    const recorder = new Recorder(this.backend, options);
    return recorder.record([...Object.values(inputs), ...layers.weightTensors()], () => {
      const { results, gradients, metrics } = trace(layers, staging.shape, inputs, (terms) =>
        this.ownOperations ? treeSum(this.backend, terms) : this.addTerms(terms, inputs.vector),
      );
      const valuesOf = (all: readonly tf.Tensor[]) => all.map((each) => recorder.valueOf(each));
      const tensors = options.expected ? undefined : results;
      return { outputs: valuesOf(results), gradients: valuesOf(gradients), metrics, tensors };
    });
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
}

function tensorsOf(
  { inputs, labels, weight, weights, lossScale }: Staging,
  shapes: ReturnType<typeof inputShapes>,
  keys: Int32Array,
): PassInputs {
  return {
    inputs: tf.tensor(inputs, [...shapes.inputs]),
    labels: tf.tensor(labels, [...shapes.labels]),
    weight: tf.tensor(weight, [...shapes.weight]),
    keys: tf.tensor(keys, [...shapes.keys]),
    ...(weights === undefined ? {} : { weights: tf.tensor(weights, [...shapes.weights]) }),
    ...(lossScale === undefined ? {} : { lossScale: tf.fill([...shapes.lossScale], recordedLossScale) }),
    vector: tf.tensor1d([...vectorShape], "int32"),
  };
}
