import type { Value } from "../../../adapters/saved-model/graph-def";
import type { NarrowPrecision } from "../../../core/runs/hyperparameters";
import type { ModelDefinition } from "../../../core/runs/model-definition";
import { add } from "../../kernels/add";
import { allocateSum, releaseSum } from "../../kernels/sum-memory";
import { canonicalAdditions } from "../../reduction/plan";
import type { Batch, BatchResult, EngineOptions, OptimizerSettings, StepTaken, StepUpdate } from "../engine";
import { ModelError, needsGraph } from "../errors";
import type { LayersTrainable } from "../layers-trainable";
import { hasOwnOperations, type NativeBackend, Operations } from "../native/operations";
import { TensorReader } from "../native/shared-tensors";
import type { OptimizerMemory, ProgramOptimizer, ProgramPass } from "../program-trainable";
import { withinScope } from "../tensor-scope";
import { GraphOptimizer, HostWeights } from "./optimizer";
import { PassRecorder, type Recorded } from "./pass-recorder";
import { type Pass, PassLoader, PassRunner } from "./pass-runner";
import type { Recording } from "./recorder";
import { requireEqual } from "./result-comparison";
import { GraphSession } from "./session";
import { nameOf, type PassShape, Staging } from "./staging";

/** Computes passes as TensorFlow graphs, recorded once per shape. Without a graph the layers' tape computes them. */
export class GraphProgram {
  readonly takesSparse = false;
  readonly weights: HostWeights;
  private readonly session: GraphSession;
  private readonly recorder: PassRecorder;
  private readonly runner: PassRunner;
  private readonly loader: PassLoader;
  private readonly handles: readonly Value[];
  private readonly operations: Operations;
  private readonly reader: TensorReader;
  /** By shape; undefined: the pass cannot be a graph. */
  private readonly passes = new Map<string, Pass | undefined>();
  /** Whether sums in a graph have the bits of single additions, as far as known. */
  private sumsAreExact = true;
  /** Whether a micro-batch's values are computed again to save memory. A sum would need the memory of several. */
  private rematerialises = false;
  /** Gradients of a step that is taken in two calls. */
  private sum: Float32Array | undefined;

  constructor(
    private readonly backend: NativeBackend,
    private readonly definition: ModelDefinition,
    private readonly layers: LayersTrainable,
    /** See `sharesMemory`. */
    sharing: boolean,
    private readonly onExecution: EngineOptions["onExecution"],
    private readonly precision?: NarrowPrecision,
    /** See `requireEqual`. */
    private readonly tf32 = false,
  ) {
    const { binding } = backend;
    this.operations = new Operations(binding);
    this.reader = new TensorReader(binding, this.operations, sharing);
    this.recorder = new PassRecorder(backend, layers);
    this.session = new GraphSession(binding);
    this.runner = new PassRunner(binding, definition, this.session, this.operations, this.reader, sharing);
    this.weights = new HostWeights(this.session, layers.parameterCount);
    this.handles = this.session.variables.add(
      layers.layout.map(({ name, shape, offset, size }) => ({
        name,
        shape,
        host: () => this.weights.memory.subarray(offset, offset + size),
      })),
    );
    this.loader = new PassLoader(binding, this.session, this.handles, layers.parameterCount);
  }

  /** See `TrainableModel.begin`, for batches that have been checked. */
  begin(microBatches: number): Required<ProgramPass> {
    let staging: Staging | undefined;
    return {
      add: (batch, randomKey) => {
        staging ??= this.stagingOf(this.shapeOf("gradients", batch, microBatches));
        staging?.add(batch, randomKey);
      },
      gradients: (into) => staging && this.run(staging, into),
      step: (update) => this.takeStep(staging as Staging, update),
    };
  }

  /** Computes as `TrainableModel.evaluate`. @returns undefined if the model cannot be recorded */
  evaluate(batch: Batch): BatchResult | undefined {
    const staging = this.stagingOf(this.shapeOf("evaluation", batch, 1));
    staging?.add(batch, "evaluation");
    return staging && this.run(staging)?.[0];
  }

  scaleLoss(scale: number): void {
    this.runner.lossScale = scale;
  }

  get maxSum(): number {
    return this.sumsAreExact && !this.rematerialises ? this.runner.maxSum(this.layers.parameterCount) : 1;
  }

  attachOptimizer(settings: OptimizerSettings, memory: OptimizerMemory): ProgramOptimizer {
    const { session, weights, operations, reader, handles, runner } = this;
    const { binding } = this.backend;
    const ownOperations = hasOwnOperations(binding);
    const model = { binding, session, weights, operations, reader, handles, layout: this.layers.layout, ownOperations };
    const optimizer = new GraphOptimizer(model, settings, memory);
    this.loader.optimizer = optimizer;
    return {
      get active() {
        return runner.gradientMs < Number.POSITIVE_INFINITY;
      },
      apply: (sum, update) => optimizer.apply(sum, update),
      read: () => optimizer.read(),
    };
  }

  /** Returns the empty memory of a pass. @returns undefined if the pass cannot be recorded */
  private stagingOf(shape: PassShape): Staging | undefined {
    const name = nameOf(shape);
    const pass = this.passes.get(name);
    if (pass === undefined && this.passes.has(name)) return undefined;
    const staging = pass?.staging ?? new Staging(this.definition, shape);
    staging.filled = 0;
    return staging;
  }

  /** Runs a pass, which is compiled first. @returns undefined if it cannot be recorded */
  private run(staging: Staging, into?: Float32Array): readonly BatchResult[] | undefined {
    const name = nameOf(staging.shape);
    const pass = this.passes.get(name);
    if (pass) return this.runner.run(pass, into);
    if (staging.shape.microBatches > 1) return this.compileSum(staging, into as Float32Array);
    const compiled = this.compile(staging, into);
    this.passes.set(name, compiled?.pass);
    if (compiled === undefined) staging.dispose(this.backend.binding);
    return compiled && (compiled.result ? [compiled.result] : this.runner.run(compiled.pass, into));
  }

  /** Takes a step in one call, or in two: the first step of a pass finds out whether the bits are the same. */
  private takeStep(staging: Staging, update: StepUpdate): StepTaken {
    const { optimizer } = this.loader;
    if (optimizer === undefined) throw new Error("no optimizer is attached");
    const recorded = this.passes.get(nameOf(staging.shape));
    if (recorded?.step?.exact) return this.runner.step(optimizer, recorded, update);
    this.sum ??= allocateSum(this.layers.parameterCount);
    const results = this.run(staging, this.sum);
    if (results === undefined) throw new Error("a step was begun before a micro-batch's gradients were computed");
    const pass = this.passes.get(nameOf(staging.shape));
    const before = pass?.step && pass.step.exact === undefined ? optimizer.copyState() : undefined;
    const gradientNorm = optimizer.apply(this.sum, update);
    if (pass?.step && before) {
      const expected = optimizer.digest();
      optimizer.restoreState(before);
      this.runner.step(optimizer, pass, update);
      pass.step.exact = optimizer.digest() === expected;
      if (!pass.step.exact) {
        optimizer.restoreState(before);
        optimizer.apply(this.sum, update);
      }
    }
    return { results, gradientNorm };
  }

  private shapeOf(kind: PassShape["kind"], { rows, weights }: Batch, microBatches: number): PassShape {
    return { kind, rows, weighted: microBatches === 1 && weights !== undefined, microBatches };
  }

  /** Records and loads a pass, and compares its first results (or its head's) with the tape's. */
  private compile(staging: Staging, into?: Float32Array): { pass: Pass; result?: BatchResult } | undefined {
    const { kind } = staging.shape;
    const startedAt = performance.now();
    return this.recorded(staging, (recording) => {
      const { builder } = this.session;
      const { length } = builder.nodes;
      const { sameWithCuts } = recording.result;
      const cuts = sameWithCuts ? recording.cuts : [];
      const exact =
        recording.obstacle ??
        this.recorder.obstacleToRepeat(staging, recording) ??
        this.loader.load(staging, recording, { cuts });
      const precision = kind === "gradients" ? this.precision : undefined;
      const isUsed = precision === undefined || recording.result.tensors !== undefined;
      const result = exact instanceof Error || !isUsed ? undefined : this.compare(exact, recording.result, into);
      let pass = exact;
      if (precision) {
        if (exact instanceof Error) throw new ModelError(needsGraph(precision, exact.message), exact);
        builder.truncate(length); // only the rounded graph is used from now on
        pass = this.loader.load(staging, recording, { precision, cuts });
      }
      if (pass instanceof Error) {
        this.onExecution?.({ pass: kind, engine: "tape", reason: pass });
        return undefined;
      }
      const { length: segments } = recording.cuts;
      const needsCheck = segments > 0 && sameWithCuts === undefined;
      const smaller = needsCheck ? this.rematerialised(pass, recording, length) : undefined;
      const isCut = smaller !== undefined || cuts.length > 0;
      this.rematerialises ||= isCut;
      const { length: operations } = recording.nodes;
      const again = segments === 0 ? {} : { rematerialised: isCut ? segments : 0 };
      this.onExecution?.({ pass: kind, engine: "graph", operations, ...again, ms: performance.now() - startedAt });
      return { pass: smaller ?? pass, ...(pass === exact && result ? { result } : {}) };
    });
  }

  /** Replaces a loaded pass by one that computes values again. @returns undefined, and keeps it, if the bits would differ */
  private rematerialised(whole: Pass, recording: Recording<Recorded>, before: number): Pass | undefined {
    const { builder } = this.session;
    const { precision } = this;
    const expected = this.runner.digest(whole, this.weights);
    const nodes = builder.nodes.slice(before);
    builder.truncate(before);
    const smaller = this.loader.load(whole.staging, recording, { precision, cuts: recording.cuts });
    if (!(smaller instanceof Error) && this.runner.digest(smaller, this.weights) === expected) return smaller;
    builder.restore(before, nodes);
    return undefined;
  }

  /** Whether the head of a pass has the same bits if values are computed again; undefined: it has no cuts. */
  private isSameWithCuts(pass: Pass, recording: Recording<Recorded>, before: number): boolean | undefined {
    if (recording.cuts.length === 0) return undefined;
    const { precision, session } = this;
    if (precision) session.builder.truncate(before);
    const whole = precision ? this.loader.load(pass.staging, recording, { precision }) : pass;
    return whole instanceof Error ? undefined : this.rematerialised(whole, recording, before) !== undefined;
  }

  /** Computes a sum for the first time: added here, and as one graph, which is kept if it has the same bits. */
  private compileSum(staging: Staging, into: Float32Array): readonly BatchResult[] {
    const { microBatches } = staging.shape;
    const gradients = Array.from({ length: microBatches }, () => new Float32Array(into.length));
    const single = this.passes.get(nameOf({ ...staging.shape, microBatches: 1 }));
    if (single === undefined) throw new RangeError("a sum was begun before a micro-batch's gradients were computed");
    const results = gradients.map((gradient, index) => {
      single.staging.copy(staging, index);
      return this.runner.run(single, gradient)[0] as BatchResult;
    });
    for (const { into: left, from: right } of canonicalAdditions(microBatches)) {
      const sum = gradients[left] as Float32Array;
      add(sum, 0, sum, 0, gradients[right] as Float32Array, 0, sum.length);
    }
    into.set(gradients[0] as Float32Array);
    const pass = this.recorded(staging, (recording) => {
      if (recording.obstacle) return undefined;
      const { precision } = this;
      // The fastest first. A product of rounded factors stays TensorFlow's.
      const joined = precision ? [] : [{ batched: true, joinsProducts: true }];
      for (const options of [...joined, { batched: true }, { batched: false }]) {
        const loaded = this.loader.load(staging, recording, { precision, ...options });
        if (!(loaded instanceof Error) && this.runner.gives(loaded, into)) return loaded;
      }
      return undefined;
    });
    this.sumsAreExact = pass !== undefined;
    if (pass) this.passes.set(nameOf(staging.shape), pass);
    else staging.dispose(this.backend.binding);
    return results;
  }

  /** Records a pass with the present weights; the recording is valid within `use`. */
  private recorded<T>(staging: Staging, use: (recording: Recording<Recorded>) => T): T {
    const weights = new Float32Array(this.layers.parameterCount);
    this.weights.read(weights);
    this.layers.writeWeights(weights);
    const record = () => this.recordLarge(staging) ?? this.recorder.record(staging);
    return withinScope(() => use(record()));
  }

  /** Records a pass of too many rows for the tape from its head, which is compared. @returns undefined if it cannot */
  private recordLarge(staging: Staging): Recording<Recorded> | undefined {
    const head = this.recorder.headOf(staging);
    if (head === undefined) return undefined;
    const { builder } = this.session;
    const { length } = builder.nodes;
    try {
      const recording = this.recorder.record(head, staging.shape);
      if (recording.obstacle ?? this.recorder.obstacleToRepeat(head, recording)) return undefined;
      const pass = this.loader.load(head, recording);
      if (pass instanceof Error) return undefined;
      this.compare(pass, recording.result);
      const scaled = this.recorder.recordScaled(staging, head, recording);
      if (scaled === undefined) return undefined;
      // The whole pass with all values would need the memory that cuts save.
      const sameWithCuts = this.isSameWithCuts(pass, recording, length);
      return { ...scaled, result: { ...scaled.result, sameWithCuts } };
    } finally {
      builder.truncate(length);
      head.dispose(this.backend.binding);
    }
  }

  /** Runs a pass for the first time. @throws ModelError if its results are not the tape's */
  private compare(pass: Pass, { tensors }: Recorded, into?: Float32Array): BatchResult | undefined {
    const { layout } = this.layers;
    return this.runner.run(pass, into, (ids) => {
      if (tensors === undefined) return; // those of its head were compared
      const values = ids.map((id) => this.operations.read(id));
      requireEqual(tensors, values, layout, { lossScale: this.runner.lossScale, tf32: this.tf32 });
    })[0];
  }

  dispose(): void {
    this.session.dispose();
    for (const pass of this.passes.values()) pass?.staging.dispose(this.backend.binding);
    this.reader.dispose();
    this.operations.dispose();
    this.weights.dispose();
    this.loader.optimizer?.dispose();
    if (this.sum) releaseSum(this.sum);
  }
}
