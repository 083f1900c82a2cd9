import { createHash } from "node:crypto";
import type { Value } from "../../../adapters/saved-model/graph-def";
import type { NarrowPrecision } from "../../../core/runs/hyperparameters";
import type { ModelDefinition } from "../../../core/runs/model-definition";
import { bytesOf } from "../../kernels/sum-memory";
import type { BatchResult, StepTaken, StepUpdate } from "../engine";
import { hasOwnOperations, hasOwnProducts, type Operations, type TensorId } from "../native/operations";
import type { TensorReader } from "../native/shared-tensors";
import type { NativeBinding } from "../native-binding";
import { weightOf } from "../score";
import { computeModel } from "../user-code";
import type { GraphOptimizer, HostWeights, StepNodes } from "./optimizer";
import { type Recorded, recordedLossScale, vectorShape } from "./pass-recorder";
import type { Recording } from "./recorder";
import { rewrite } from "./rewrites/rewrite";
import { type GraphSession, namesOf } from "./session";
import type { Staging } from "./staging";
import { unshaped } from "./update";

interface WrittenNodes {
  /** Tensor of that memory, see `TensorReader.sink`. */
  readonly input: string;
  /** As `Pass.outputs`, but the gradient is that tensor. */
  readonly outputs: string;
}

export interface Pass {
  readonly staging: Staging;
  readonly metrics: readonly string[];
  /** Its inputs, without a step's constants. */
  readonly inputs: string;
  readonly outputs: string;
  /** Only of gradients. */
  readonly written: WrittenNodes | undefined;
  /** The optimizer's step with the gradient of this pass. */
  readonly step: StepNodes | undefined;
}

/** A sum of micro-batches takes at most this long, because it blocks the thread that keeps connections alive. */
const maxSumMs = 30;
/** A sum's gradients take at most this much memory at the same time. */
const maxSumBytes = 256 * 1024 * 1024;

export class PassRunner {
  /** Shortest time of a micro-batch's gradients, without the recording. */
  gradientMs = Number.POSITIVE_INFINITY;
  /** Factor of the loss in gradients. */
  lossScale = 1;

  constructor(
    private readonly binding: NativeBinding,
    private readonly definition: ModelDefinition,
    private readonly session: GraphSession,
    private readonly operations: Operations,
    private readonly reader: TensorReader,
    /** See `sharesMemory`. */
    private readonly sharing: boolean,
  ) {}

  /** Returns the number of micro-batches whose sum may be one call. */
  maxSum(parameterCount: number): number {
    const byMemory = maxSumBytes / (parameterCount * Float32Array.BYTES_PER_ELEMENT);
    return Math.max(1, Math.floor(Math.min(maxSumMs / this.gradientMs, byMemory)));
  }

  /** Runs a pass on the values of its staging. @param into for gradients @param check gets the results before they are used */
  run(pass: Pass, into?: Float32Array, check?: (found: readonly TensorId[]) => void): readonly BatchResult[] {
    const startedAt = performance.now();
    try {
      const sink = into && this.reader.sink(into);
      const outputs = computeModel(this.definition, () =>
        sink === undefined ? this.execute(pass) : this.write(pass, sink),
      );
      check?.(outputs);
      const [numbers = -1, gradient] = outputs;
      if (into) {
        if (sink === undefined) into.set(this.operations.read(gradient as TensorId));
        const ms = performance.now() - startedAt;
        this.gradientMs = Math.min(this.gradientMs, ms / pass.staging.shape.microBatches);
      }
      return this.resultsOf(pass, numbers);
    } finally {
      this.operations.release();
    }
  }

  gives(pass: Pass, gradient: Float32Array): boolean {
    const repeated = new Float32Array(gradient.length);
    this.run(pass, repeated);
    return Buffer.compare(bytesOf(repeated), bytesOf(gradient)) === 0;
  }

  private resultsOf({ staging, metrics }: Pass, numbers: TensorId): readonly BatchResult[] {
    const { microBatches } = staging.shape;
    const values = this.operations.read(numbers);
    const width = values.length / microBatches;
    return Array.from({ length: microBatches }, (_, index): BatchResult => {
      const [loss = Number.NaN, ...rest] = values.subarray(index * width, (index + 1) * width);
      const correct = rest[metrics.length];
      const named = metrics.map((name, at) => [name, rest[at] as number] as const);
      return {
        loss,
        weight: weightOf(staging.batch(index)),
        ...(correct === undefined ? {} : { correct }),
        ...(metrics.length === 0 ? {} : { metrics: Object.fromEntries(named) }),
      };
    });
  }

  /** Runs a pass; the results live until `operations.release`. */
  execute({ staging, inputs, outputs }: Pass, lossScale?: number): readonly TensorId[] {
    const results = this.session.run(inputs, this.feeds(staging, lossScale), outputs);
    this.operations.adopt(results);
    return results;
  }

  /** Runs a pass whose gradient is written to a tensor. */
  private write({ staging, inputs, written }: Pass, sink: TensorId): readonly TensorId[] {
    const { input, outputs } = written as WrittenNodes;
    const results = this.session.run(`${inputs},${input}`, [...this.feeds(staging), sink], outputs);
    this.operations.adopt(results);
    return results;
  }

  private feeds(staging: Staging, lossScale = this.lossScale): readonly TensorId[] {
    const { operations } = this;
    staging.lossScale?.fill(lossScale);
    return [...staging.feeds(this.binding, operations, this.sharing), operations.integers(vectorShape)];
  }

  step(optimizer: GraphOptimizer, pass: Pass, update: StepUpdate): StepTaken {
    const { session, operations } = this;
    const { input, outputs } = pass.step as StepNodes;
    try {
      const inputs = [...this.feeds(pass.staging), optimizer.constants(update)];
      const [numbers = -1, taken = -1] = computeModel(this.definition, () =>
        session.run(`${pass.inputs},${input}`, inputs, outputs),
      );
      operations.adopt([numbers, taken]);
      const gradientNorm = optimizer.normOf(taken);
      return { results: this.resultsOf(pass, numbers), gradientNorm };
    } finally {
      operations.release();
    }
  }

  /** Returns the SHA-256 of a pass's results with changed weights. Initial weights, such as zeros, hide differences. */
  digest(pass: Pass, { memory }: HostWeights): string {
    const weights = memory.slice();
    try {
      for (const [index, value] of weights.entries()) memory[index] = value + 0.02 * Math.sin(index + 1);
      this.session.variables.hostChanged();
      const hash = createHash("sha256");
      const ids = computeModel(this.definition, () => this.execute(pass, recordedLossScale));
      for (const id of ids) hash.update(this.operations.read(id));
      return hash.digest("hex");
    } finally {
      memory.set(weights);
      this.session.variables.hostChanged();
      this.operations.release();
    }
  }
}

interface LoadOptions {
  /** See `roundProducts`. Default: nothing is rounded. */
  readonly precision?: NarrowPrecision | undefined;
  /** Whether the rows of a sum's micro-batches are computed together. Default true. */
  readonly batched?: boolean;
  /** See `joinProductsAndSums`. Default false. */
  readonly joinsProducts?: boolean;
  /** See `RematerialiseOptions`. Default: none. */
  readonly cuts?: readonly number[];
}

/** Adds recorded passes to a session, whose variables replace the recorded weights. */
export class PassLoader {
  /** Takes its steps in passes that are loaded from now on. */
  optimizer: GraphOptimizer | undefined;
  private readonly gpu: boolean;
  private readonly ownOperations: boolean;
  private readonly ownProducts: boolean;

  constructor(
    binding: NativeBinding,
    private readonly session: GraphSession,
    private readonly handles: readonly Value[],
    private readonly parameters: number,
  ) {
    this.gpu = binding.isUsingGpuDevice();
    this.ownOperations = hasOwnOperations(binding);
    this.ownProducts = hasOwnProducts(binding);
  }

  load(
    staging: Staging,
    recording: Recording<Recorded>,
    { precision, batched = true, joinsProducts = false, cuts = [] }: LoadOptions = {},
  ): Pass | Error {
    const { session, handles, optimizer } = this;
    const { placeholders, result } = recording;
    const { microBatches, rows, kind } = staging.shape;
    return session.extend((builder) => {
      const fetched = [...result.outputs, ...(optimizer ? result.gradients : [])];
      const { nodes, placed: rewritten } = rewrite(recording.nodes, [...placeholders, ...fetched], {
        gpu: this.gpu,
        precision,
        ownOperations: this.ownOperations,
        ownProducts: this.ownProducts,
        joinsProducts: joinsProducts && this.ownProducts,
        rematerialise: { forward: result.outputs.slice(0, 1), backward: result.gradients, cuts },
        batch: batched && microBatches > 1 ? { microBatches, rows } : undefined,
      });
      const inputs = placeholders.slice(0, -handles.length);
      const weights = placeholders.slice(-handles.length).map(rewritten);
      const reads = weights.map(({ node }, slot) => [node, session.variables.reading(handles[slot] as Value)] as const);
      const appended = builder.append(nodes, new Map(reads));
      const placed = (value: Value): Value => appended(rewritten(value));
      const outputs = result.outputs.map(placed);
      const [numbers, gradient] = outputs as [Value, Value?];
      const step =
        kind === "gradients" && optimizer
          ? optimizer.addStep(numbers, microBatches, result.gradients.map(placed))
          : undefined;
      return {
        staging,
        metrics: result.metrics,
        inputs: namesOf(inputs.map(placed)),
        outputs: namesOf(outputs),
        written: gradient && this.addWrite(numbers, gradient, result.gradients.map(placed)),
        step,
      };
    });
  }

  /** Adds nodes that write the gradient to memory of the caller. @param parts the gradient's, by slot of the layout */
  private addWrite(numbers: Value, gradient: Value, parts: readonly Value[]): WrittenNodes {
    const { builder } = this.session;
    const into = builder.placeholder([1, this.parameters]);
    const written = this.ownOperations
      ? builder.add("RingmasterWrite", [into, ...parts.map((part) => unshaped(builder.nodes, part))], {
          N: { kind: "int", value: parts.length },
        })
      : builder.add("InplaceUpdate", [into, builder.integers([0]), gradient]);
    return { input: namesOf([into]), outputs: namesOf([numbers, written]) };
  }
}
