import { createHash } from "node:crypto";
import type { ModelDefinition } from "../../../core/runs/model-definition";
import { bytesOf } from "../../collective/frame";
import type { BatchResult, EngineStep, StepUpdate } from "../engine";
import type { Operations, TensorId } from "../native/operations";
import type { TensorReader } from "../native/shared-tensors";
import type { NativeBinding } from "../native-binding";
import { weightOf } from "../score";
import { computeModel } from "../user-code";
import type { HostWeights } from "./host-weights";
import type { GraphOptimizer, StepNodes } from "./optimizer";
import { recordedLossScale, vectorShape } from "./pass-recorder";
import type { GraphSession } from "./session";
import type { Staging } from "./staging";

/** The nodes of a pass that writes its gradient to the caller's memory. */
export interface WrittenNodes {
  /** Tensor of that memory, see `TensorReader.sink`. */
  readonly input: string;
  /** As `Pass.outputs`, but the gradient is that tensor. */
  readonly outputs: string;
}

/** A recorded pass. */
export interface Pass {
  readonly staging: Staging;
  /** Names of the metrics. */
  readonly metrics: readonly string[];
  /** Its inputs, without a step's constants. */
  readonly inputs: string;
  /** Names of `Traced.results`. */
  readonly outputs: string;
  /** Only of gradients. */
  readonly written: WrittenNodes | undefined;
  /** The optimizer's step with the gradient of this pass. */
  readonly step: StepNodes | undefined;
}

export type StepResult = ReturnType<EngineStep["finish"]>;

/** A sum of micro-batches takes at most this long, because it blocks the thread that keeps connections alive. */
const maxSumMs = 30;
/** A sum's gradients take at most this much memory at the same time. */
const maxSumBytes = 256 * 1024 * 1024;

/** Runs the passes of a session. */
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
      const found = computeModel(this.definition, () =>
        sink === undefined ? this.execute(pass) : this.write(pass, sink),
      );
      check?.(found);
      const [numbers = -1, gradient] = found;
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

  /** Whether a pass gives exactly this gradient. */
  gives(pass: Pass, gradient: Float32Array): boolean {
    const found = new Float32Array(gradient.length);
    this.run(pass, found);
    return Buffer.compare(bytesOf(found), bytesOf(gradient)) === 0;
  }

  /** Reads the results of a pass's micro-batches. */
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

  /** Runs a pass and its optimizer's step. */
  step(optimizer: GraphOptimizer, pass: Pass, update: StepUpdate): StepResult {
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
      const found = computeModel(this.definition, () => this.execute(pass, recordedLossScale));
      for (const id of found) hash.update(this.operations.read(id));
      return hash.digest("hex");
    } finally {
      memory.set(weights);
      this.session.variables.hostChanged();
      this.operations.release();
    }
  }
}
