import * as tf from "@tensorflow/tfjs-core";
import type { ModelDefinition } from "../../../core/runs/model-definition";
import { drawKey } from "../draws";
import type { Batch, BatchResult, EngineOptions } from "../engine";
import { ModelError } from "../errors";
import type { LayersTrainable } from "../layers-trainable";
import type { NativeBackend } from "../native/op";
import { Operations, type TensorId } from "../native/operations";
import { TensorReader, WeightTensors } from "../native/shared-tensors";
import { type BatchTensors, batchTensors, checkClasses, resultOf, type Scored, weightOf } from "../score";
import { computeModel } from "../user-code";
import { savedModel, type Value } from "./graph-def";
import { LoadedGraph } from "./loaded-graph";
import { Recorder, type Recording } from "./recorder";

type Kind = "gradients" | "evaluation";

/** A recorded pass. Its first output is a vector: the loss, the metrics, the model's outputs. Its second is the gradient. */
interface Pass {
  readonly graph: LoadedGraph;
  /** Names of the metrics. */
  readonly metrics: readonly string[];
}

interface Traced {
  readonly outputs: readonly Value[];
  /** The outputs' tensors, as the tape computed them. */
  readonly tensors: readonly tf.Tensor[];
  readonly metrics: readonly string[];
}

/** Largest accepted difference between a graph and the tape, relative to the largest element, or absolute below 1. */
const tolerance = 1e-5;

/**
 * Computes a model's passes as TensorFlow graphs. Each is recorded from the layers' operations, once per shape of a batch.
 * A model that cannot be recorded has no graph; the layers' tape must compute it.
 */
export class GraphProgram {
  readonly takesSparse = false;
  readonly weights: WeightTensors;
  private readonly operations: Operations;
  private readonly reader: TensorReader;
  /** By kind and shape; undefined: the pass cannot be a graph. */
  private readonly passes = new Map<string, Pass | undefined>();

  constructor(
    private readonly backend: NativeBackend,
    private readonly definition: ModelDefinition,
    private readonly layers: LayersTrainable,
    /** See `sharesMemory`. */
    shared: boolean,
    private readonly onExecution: EngineOptions["onExecution"],
  ) {
    const { binding } = backend;
    this.operations = new Operations(binding);
    this.reader = new TensorReader(binding, this.operations, shared);
    this.weights = new WeightTensors(binding, layers.layout, shared);
  }

  /**
   * Computes as `TrainableModel.gradients`, for a batch that has been checked.
   *
   * @returns undefined if the model cannot be recorded
   */
  gradients(batch: Batch, randomKey: string, into: Float32Array): BatchResult | undefined {
    return this.run("gradients", batch, randomKey, ([, gradient]) => this.reader.copy(gradient as TensorId, into));
  }

  /** Computes as `TrainableModel.evaluate`. @returns undefined if the model cannot be recorded */
  evaluate(batch: Batch): BatchResult | undefined {
    return this.run("evaluation", batch, "evaluation", () => undefined);
  }

  private run(
    kind: Kind,
    batch: Batch,
    randomKey: string,
    take: (outputs: readonly TensorId[]) => void,
  ): BatchResult | undefined {
    const { definition, operations, passes } = this;
    if (definition.task === "classification") checkClasses(definition, batch.labels);
    const shape = `${kind} of ${batch.rows} rows${batch.weights === undefined ? "" : " with weights"}`;
    if (!passes.has(shape)) passes.set(shape, this.compile(kind, batch, randomKey));
    const pass = passes.get(shape);
    if (pass === undefined) return undefined;
    try {
      const outputs = computeModel(definition, () => this.execute(pass.graph, batch, randomKey));
      take(outputs);
      const numbers = operations.read(outputs[0] as TensorId);
      const metrics = pass.metrics.map((name, index) => [name, numbers[1 + index] as number] as const);
      const modelOutputs = numbers.subarray(1 + metrics.length);
      return resultOf(definition, batch, numbers[0] as number, modelOutputs, Object.fromEntries(metrics));
    } finally {
      operations.release();
    }
  }

  /** Runs a graph; the results live until `operations.release`. */
  private execute(graph: LoadedGraph, batch: Batch, randomKey: string): readonly TensorId[] {
    const { definition, operations } = this;
    const { rows, labels, weights } = batch;
    const outputs = graph.run([
      operations.tensor([rows, ...definition.inputShape], batch.inputs),
      definition.task === "classification"
        ? operations.indices(labels)
        : operations.tensor(
            definition.task === "regression" ? [rows, definition.outputs] : [rows],
            Float32Array.from(labels),
          ),
      operations.tensor([], Float32Array.of(weightOf(batch))),
      operations.indices(drawKey(randomKey)),
      ...(weights === undefined ? [] : [operations.tensor([rows], weights)]),
      ...this.layers.layout.map((_, slot) => this.weights.id(slot)),
    ]);
    operations.adopt(outputs);
    return outputs;
  }

  /** Records a pass, loads it and compares its first results with the tape's. */
  private compile(kind: Kind, batch: Batch, randomKey: string): Pass | undefined {
    const startedAt = performance.now();
    const weights = new Float32Array(this.layers.parameterCount);
    this.weights.read(weights);
    this.layers.writeWeights(weights);
    return tf.tidy(() => {
      const recording = this.record(kind, batch, randomKey);
      const obstacle = recording.obstacle ?? this.changesBetweenCalls(kind, batch, recording);
      const graph = obstacle ?? this.load(recording);
      if (graph instanceof Error) {
        this.onExecution?.({ pass: kind, engine: "tape", reason: graph });
        return undefined;
      }
      this.compare(graph, batch, randomKey, recording.result);
      const { length: operations } = recording.nodes;
      this.onExecution?.({ pass: kind, engine: "graph", operations, ms: performance.now() - startedAt });
      return { graph, metrics: recording.result.metrics } as unknown as tf.TensorContainer;
    }) as unknown as Pass | undefined;
  }

  private record(kind: Kind, batch: Batch, randomKey: string): Recording<Traced> {
    const tensors = batchTensors(this.definition, batch);
    const key = tf.tensor1d(drawKey(randomKey), "int32");
    const { inputs, labels, weight, weights } = tensors;
    const fed = [inputs, labels, weight, key, ...(weights ? [weights] : []), ...this.layers.weightTensors()];
    return new Recorder(this.backend).record(fed, (recorder) => {
      const { results, metrics } = this.trace(kind, tensors, key);
      return { outputs: results.map((each) => recorder.valueOf(each)), tensors: results, metrics };
    });
  }

  /** Computes a pass on the tape. */
  private trace(kind: Kind, batch: BatchTensors, key: tf.Tensor) {
    const flat = (all: readonly tf.Tensor[]): tf.Tensor => tf.concat1d(all.map((each) => tf.reshape(each, [-1])));
    const numbers = ({ loss, outputs, metrics }: Scored): tf.Tensor => flat([loss, ...Object.values(metrics), outputs]);
    if (kind === "evaluation") {
      const scored = this.layers.score(batch);
      return { results: [numbers(scored)], metrics: Object.keys(scored.metrics) };
    }
    const scored = this.layers.differentiate(batch, key);
    const gradients = this.layers.layout.map(({ size }, index) => scored.gradients[index] ?? tf.zeros([size]));
    return { results: [numbers(scored), tf.reshape(flat(gradients), [1, -1])], metrics: Object.keys(scored.metrics) };
  }

  /** Returns why a graph would differ from the model: user code may compute something else in each call. */
  private changesBetweenCalls(kind: Kind, batch: Batch, first: Recording<Traced>): Error | undefined {
    const again = tf.tidy(
      () => savedModel(this.record(kind, batch, "another key").nodes) as unknown as tf.TensorContainer,
    );
    const same = Buffer.compare(savedModel(first.nodes), again as unknown as Uint8Array) === 0;
    return same ? undefined : new Error("its operations or constants differ between two calls");
  }

  /** Returns the graph, or TensorFlow's reason for a refusal. */
  private load({ nodes, placeholders, result }: Recording<Traced>): LoadedGraph | Error {
    try {
      return new LoadedGraph(this.backend.binding, nodes, placeholders, result.outputs);
    } catch (error) {
      return new Error(`TensorFlow refuses its graph: ${(error as Error).message}`);
    }
  }

  /** @throws ModelError if the graph's results are not the tape's */
  private compare(graph: LoadedGraph, batch: Batch, randomKey: string, { tensors }: Traced): void {
    try {
      const found = this.execute(graph, batch, randomKey);
      tensors.forEach((tensor, index) => {
        const expected = tensor.dataSync();
        const computed = this.operations.read(found[index] as TensorId);
        const scale = (expected as Float32Array).reduce((most, value) => Math.max(most, Math.abs(value)), 1);
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
    for (const pass of this.passes.values()) pass?.graph.dispose();
    this.reader.dispose();
    this.operations.dispose();
    this.weights.dispose();
  }
}
