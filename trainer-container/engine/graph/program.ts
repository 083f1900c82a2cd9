import * as tf from "@tensorflow/tfjs-core";
import type { ModelDefinition } from "../../../core/runs/model-definition";
import { savedModel, type Value } from "../../../core/saved-model/graph-def";
import { add } from "../../collective/add";
import { canonicalAdditions } from "../../reduction/tree";
import type { Batch, BatchResult, EngineOptions, MicroshardSum } from "../engine";
import { ModelError } from "../errors";
import type { LayersTrainable } from "../layers-trainable";
import { attributesOf, type NativeBackend } from "../native/op";
import { Operations, type TensorId } from "../native/operations";
import { TensorReader, WeightTensors } from "../native/shared-tensors";
import { resultOf } from "../score";
import { computeModel } from "../user-code";
import { LoadedGraph } from "./loaded-graph";
import { inputShapes, type PassShape, trace } from "./passes";
import { Recorder, type Recording } from "./recorder";
import { rewrite } from "./rewrites/rewrite";
import { Staging } from "./staging";

/** A recorded pass. Its outputs are those of `Traced`. */
interface Pass {
  readonly graph: LoadedGraph;
  readonly staging: Staging;
  /** Names of the metrics. */
  readonly metrics: readonly string[];
}

interface Recorded {
  readonly outputs: readonly Value[];
  /** The outputs, as the tape computed them. */
  readonly tensors: readonly tf.Tensor[];
  readonly metrics: readonly string[];
}

/** Largest accepted difference between a graph and the tape, relative to the largest element, or absolute below 1. */
const tolerance = 1e-5;
/** See `PassInputs.vector`. */
const vectorShape = [-1];
/** A sum of microshards takes at most this long, because it blocks the thread that keeps connections alive. */
const maxSumMs = 30;
/** A sum's gradients take at most this much memory at the same time. */
const maxSumBytes = 256 * 1024 * 1024;

/**
 * Computes a model's passes as TensorFlow graphs. Each is recorded from the layers' operations, once per shape of a batch.
 * A model that cannot be recorded has no graph; the layers' tape must compute it.
 */
export class GraphProgram {
  readonly takesSparse = false;
  readonly weights: WeightTensors;
  private readonly operations: Operations;
  private readonly reader: TensorReader;
  /** By shape; undefined: the pass cannot be a graph. */
  private readonly passes = new Map<string, Pass | undefined>();
  /** Shortest time of a microshard's gradients, without the recording. */
  private gradientMs = Number.POSITIVE_INFINITY;
  /** Whether sums in a graph have the bits of single additions, as far as known. */
  private sumsAreExact = true;

  constructor(
    private readonly backend: NativeBackend,
    private readonly definition: ModelDefinition,
    private readonly layers: LayersTrainable,
    /** See `sharesMemory`. */
    private readonly sharing: boolean,
    private readonly onExecution: EngineOptions["onExecution"],
  ) {
    const { binding } = backend;
    this.operations = new Operations(binding);
    this.reader = new TensorReader(binding, this.operations, sharing);
    this.weights = new WeightTensors(binding, layers.layout, sharing);
  }

  /**
   * Computes as `TrainableModel.gradients`, for a batch that has been checked.
   *
   * @returns undefined if the model cannot be recorded
   */
  gradients(batch: Batch, randomKey: string, into: Float32Array): BatchResult | undefined {
    const pass = this.passFor("gradients", batch, randomKey);
    if (pass === undefined) return undefined;
    const startedAt = performance.now();
    const [result] = this.run(pass, into);
    this.gradientMs = Math.min(this.gradientMs, performance.now() - startedAt);
    return result;
  }

  /** Computes as `TrainableModel.evaluate`. @returns undefined if the model cannot be recorded */
  evaluate(batch: Batch): BatchResult | undefined {
    const pass = this.passFor("evaluation", batch, "evaluation");
    return pass && this.run(pass)[0];
  }

  /** See `TrainableModel.maxSum`. */
  get maxSum(): number {
    if (!this.sumsAreExact) return 1;
    const byMemory = maxSumBytes / (this.layers.parameterCount * Float32Array.BYTES_PER_ELEMENT);
    return Math.max(1, Math.floor(Math.min(maxSumMs / this.gradientMs, byMemory)));
  }

  beginSum(microshards: number): MicroshardSum {
    let staging: Staging | undefined;
    let shape: PassShape | undefined;
    return {
      add: (batch, randomKey) => {
        shape ??= { kind: "gradients", rows: batch.rows, weighted: false, microshards };
        staging ??= this.passes.get(nameOf(shape))?.staging ?? new Staging(this.definition, shape);
        if (staging.filled === microshards) staging.filled = 0;
        staging.add(batch, randomKey);
      },
      finish: (into) => {
        const name = nameOf(shape as PassShape);
        const pass = this.passes.get(name);
        if (pass) return this.run(pass, into);
        return this.compileSum(staging as Staging, into);
      },
    };
  }

  private passFor(kind: PassShape["kind"], batch: Batch, randomKey: string): Pass | undefined {
    const shape = { kind, rows: batch.rows, weighted: batch.weights !== undefined, microshards: 1 };
    const name = nameOf(shape);
    const known = this.passes.get(name);
    if (known === undefined && this.passes.has(name)) return undefined;
    const staging = known?.staging ?? new Staging(this.definition, shape);
    staging.filled = 0;
    staging.add(batch, randomKey);
    if (known) return known;
    const pass = this.compile(staging);
    this.passes.set(name, pass);
    if (pass === undefined) staging.dispose(this.backend.binding);
    return pass;
  }

  /** Runs a pass on the values of its staging. @param into for gradients */
  private run({ graph, staging, metrics }: Pass, into?: Float32Array): readonly BatchResult[] {
    const { definition, operations } = this;
    try {
      const [numbers = -1, gradient] = computeModel(definition, () => this.execute(graph, staging));
      if (into) this.reader.copy(gradient as TensorId, into, true);
      const values = operations.read(numbers);
      const width = values.length / staging.shape.microshards;
      return Array.from({ length: staging.shape.microshards }, (_, index) => {
        const [loss, ...named] = values.subarray(index * width, index * width + 1 + metrics.length);
        const outputs = values.subarray(index * width + 1 + metrics.length, (index + 1) * width);
        const byName = Object.fromEntries(metrics.map((name, at) => [name, named[at] as number]));
        return resultOf(definition, staging.batch(index), loss as number, outputs, byName);
      });
    } finally {
      operations.release();
    }
  }

  /** Runs a graph; the results live until `operations.release`. */
  private execute(graph: LoadedGraph, staging: Staging): readonly TensorId[] {
    const { operations } = this;
    const outputs = graph.run([
      ...staging.feeds(this.backend.binding, operations, this.sharing),
      operations.integers(vectorShape),
      ...this.layers.layout.map((_, slot) => this.weights.id(slot)),
    ]);
    operations.adopt(outputs);
    return outputs;
  }

  /** Records a pass, loads it and compares its first results with the tape's. */
  private compile(staging: Staging): Pass | undefined {
    const { kind } = staging.shape;
    const startedAt = performance.now();
    return this.recorded(staging, (recording) => {
      const graph = recording.obstacle ?? this.changesBetweenCalls(staging, recording) ?? this.load(recording);
      if (graph instanceof Error) {
        this.onExecution?.({ pass: kind, engine: "tape", reason: graph });
        return undefined;
      }
      this.compare(graph, staging, recording.result);
      const { length: operations } = recording.nodes;
      this.onExecution?.({ pass: kind, engine: "graph", operations, ms: performance.now() - startedAt });
      return { graph, staging, metrics: recording.result.metrics };
    });
  }

  /**
   * Computes a sum for the first time: each microshard alone, added here, and as one graph, which is kept if it has the same
   * bits.
   */
  private compileSum(staging: Staging, into: Float32Array): readonly BatchResult[] {
    const { microshards } = staging.shape;
    const gradients = Array.from({ length: microshards }, () => new Float32Array(into.length));
    const single = this.passes.get(nameOf({ ...staging.shape, microshards: 1 }));
    if (single === undefined) throw new RangeError("a sum was begun before a microshard's gradients were computed");
    const results = gradients.map((gradient, index) => {
      single.staging.copy(staging, index);
      return this.run(single, gradient)[0] as BatchResult;
    });
    for (const { into: left, from: right } of canonicalAdditions(microshards)) {
      const sum = gradients[left] as Float32Array;
      add(sum, 0, sum, 0, gradients[right] as Float32Array, 0, sum.length);
    }
    into.set(gradients[0] as Float32Array);
    const pass = this.recorded(staging, (recording) => {
      const graph = recording.obstacle ?? this.load(recording);
      return graph instanceof Error ? undefined : { graph, staging, metrics: recording.result.metrics };
    });
    const found = new Float32Array(into.length);
    if (pass) this.run(pass, found);
    this.sumsAreExact = pass !== undefined && Buffer.compare(bytesOf(found), bytesOf(into)) === 0;
    if (this.sumsAreExact) this.passes.set(nameOf(staging.shape), pass);
    else {
      pass?.graph.dispose();
      staging.dispose(this.backend.binding);
    }
    return results;
  }

  /** Records a pass with the present weights; the recording is valid within `use`. */
  private recorded<T>(staging: Staging, use: (recording: Recording<Recorded>) => T): T {
    const weights = new Float32Array(this.layers.parameterCount);
    this.weights.read(weights);
    this.layers.writeWeights(weights);
    return tf.tidy(() => use(this.record(staging)) as unknown as tf.TensorContainer) as unknown as T;
  }

  private record(staging: Staging): Recording<Recorded> {
    const { shape, weights } = staging;
    const shapes = inputShapes(this.definition, shape);
    const tensors = {
      inputs: tf.tensor(staging.inputs, [...shapes.inputs]),
      labels: tf.tensor(staging.labels, [...shapes.labels]),
      weight: tf.tensor(staging.weight, [...shapes.weight]),
      keys: tf.tensor(staging.keys, [...shapes.keys]),
      ...(weights === undefined ? {} : { weights: tf.tensor(weights, [...shapes.weights]) }),
      vector: tf.tensor1d([...vectorShape], "int32"),
    };
    return new Recorder(this.backend).record(
      [...Object.values(tensors), ...this.layers.weightTensors()],
      (recorder) => {
        const { results, metrics } = trace(this.layers, shape, tensors, (tensor) =>
          this.flatten(tensor, tensors.vector),
        );
        return { outputs: results.map((each) => recorder.valueOf(each)), tensors: results, metrics };
      },
    );
  }

  private flatten(tensor: tf.Tensor, shape: tf.Tensor): tf.Tensor {
    const { float, int32 } = attributesOf(this.backend.binding);
    return this.backend.executeSingleOutput("Reshape", [float("T"), int32("Tshape")], [tensor, shape]);
  }

  /** Returns why a graph would differ from the model: user code may compute something else in each call. */
  private changesBetweenCalls(staging: Staging, first: Recording<Recorded>): Error | undefined {
    const again = tf.tidy(() => savedModel(this.record(staging).nodes) as unknown as tf.TensorContainer);
    const same = Buffer.compare(savedModel(first.nodes), again as unknown as Uint8Array) === 0;
    return same ? undefined : new Error("its operations or constants differ between two calls");
  }

  /** Returns the graph, or TensorFlow's reason for a refusal. */
  private load({ nodes, placeholders, result }: Recording<Recorded>): LoadedGraph | Error {
    try {
      const { binding } = this.backend;
      const rewritten = binding.isUsingGpuDevice() ? nodes : rewrite(nodes, result.outputs);
      return new LoadedGraph(binding, rewritten, placeholders, result.outputs);
    } catch (error) {
      return new Error(`TensorFlow refuses its graph: ${(error as Error).message}`);
    }
  }

  /** @throws ModelError if the graph's results are not the tape's */
  private compare(graph: LoadedGraph, staging: Staging, { tensors }: Recorded): void {
    try {
      const found = computeModel(this.definition, () => this.execute(graph, staging));
      tensors.forEach((tensor, index) => {
        const expected = tensor.dataSync() as Float32Array;
        const computed = this.operations.read(found[index] as TensorId);
        const scale = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 1);
        const at = computed.findIndex((value, i) => Math.abs(value - (expected[i] as number)) > tolerance * scale);
        if (at === -1) return;
        const slot = this.layers.layout.find(({ offset, size }) => at < offset + size);
        const where = index === 0 ? "loss, metrics or outputs" : `gradient of ${slot?.name}`;
        graph.dispose();
        throw new ModelError(
          `The model's graph gives ${computed[at]} for its ${where}, where its operations one by one give ${expected[at]}. ` +
            "Set graph: false in defineTraining to compute it without a graph.",
        );
      });
    } finally {
      this.operations.release();
    }
  }

  dispose(): void {
    for (const pass of this.passes.values()) {
      pass?.graph.dispose();
      pass?.staging.dispose(this.backend.binding);
    }
    this.reader.dispose();
    this.operations.dispose();
    this.weights.dispose();
  }
}

const nameOf = ({ kind, rows, weighted, microshards }: PassShape): string =>
  `${kind} of ${microshards} × ${rows} rows${weighted ? " with weights" : ""}`;

const bytesOf = (values: Float32Array): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
