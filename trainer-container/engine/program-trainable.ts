import {
  type Batch,
  type BatchResult,
  type EnginePass,
  type ModelLayer,
  type ModelOptimizer,
  type NonFinite,
  type OnFinal,
  type OptimizerSettings,
  type ParameterSlot,
  passOfOne,
  type StepTaken,
  type StepUpdate,
  type TrainableModel,
} from "./engine";
import type { LayersTrainable } from "./layers-trainable";
import { memoryOptimizer } from "./memory-optimizer";
import { withinMemory } from "./wasm/memory";

/** An optimizer in a program's own memory. */
export interface ProgramOptimizer {
  /** Whether it takes the steps: once gradients were computed as a graph. */
  readonly active: boolean;
  /** @returns the norm of the mean gradient before clipping. If it is not finite, nothing was changed. */
  apply(sum: Float32Array, update: StepUpdate): number;
  /** See `ModelOptimizer`. */
  read(): void;
}

/** A program's optimizer has the weights and slots of this memory until the first step, and again after they change. */
export interface OptimizerMemory extends Pick<ModelOptimizer, "slots"> {
  readonly weights: Float32Array;
}

/** A model's passes as fixed sequences of a backend's operations, with their own weights. */
export interface GradientProgram {
  readonly takesSparse: boolean;
  /** Flat, in the layout's order. */
  readonly weights: {
    write(from: Float32Array): void;
    read(into: Float32Array): void;
    share(memory: Float32Array): void;
  };
  readonly maxSum: number;
  /** Begins a pass over batches that have been checked. */
  begin(microBatches: number): ProgramPass;
  scaleLoss?(scale: number): void;
  attachOptimizer?(settings: OptimizerSettings, memory: OptimizerMemory): ProgramOptimizer;
  /** Computes as `TrainableModel.evaluate`. @returns undefined if it cannot */
  evaluate?(batch: Batch): BatchResult | undefined;
  dispose(): void;
}

/** See `EnginePass`. Its gradients are undefined if the program cannot compute them. Only one micro-batch can be such a pass. */
export interface ProgramPass extends Pick<EnginePass, "add"> {
  gradients(into: Float32Array, onFinal?: OnFinal): readonly BatchResult[] | undefined;
  /** Takes the step of the program's optimizer, which is active. Absent: the program has none. */
  step?(update: StepUpdate): StepTaken;
}

/** A model whose gradients a program computes. The layers model does everything else; its weights are updated on use. */
export class ProgramTrainable implements TrainableModel {
  readonly layout: readonly ParameterSlot[];
  readonly layers: readonly ModelLayer[];
  readonly parameterCount: number;
  readonly trainableCount: number;
  readonly takesSparse: boolean;
  readonly scaleLoss?: (scale: number) => void;
  private lossScale = 1;
  /** Whether the layers model has outdated weights. */
  private stale = false;
  private readonly passes = new WeakMap<EnginePass, ProgramPass>();

  constructor(
    private readonly tape: LayersTrainable,
    private readonly program: GradientProgram,
  ) {
    ({
      layout: this.layout,
      layers: this.layers,
      parameterCount: this.parameterCount,
      trainableCount: this.trainableCount,
    } = tape);
    this.takesSparse = program.takesSparse;
    if (program.scaleLoss) {
      this.scaleLoss = (scale) => {
        this.lossScale = scale;
        program.scaleLoss?.(scale);
      };
    }
    program.weights.write(this.weightsOfLayers());
  }

  private weightsOfLayers(): Float32Array {
    const weights = new Float32Array(this.parameterCount);
    this.tape.readWeights(weights);
    return weights;
  }

  private upToDate(): LayersTrainable {
    if (this.stale) {
      const weights = new Float32Array(this.parameterCount);
      this.program.weights.read(weights);
      this.tape.writeWeights(weights);
      this.stale = false;
    }
    return this.tape;
  }

  readWeights(into: Float32Array): void {
    this.tape.checkFlat(into);
    this.program.weights.read(into);
  }

  writeWeights(from: Float32Array): void {
    this.tape.checkFlat(from);
    this.program.weights.write(from);
    this.stale = true;
  }

  shareWeights(weights: Float32Array): void {
    this.tape.checkFlat(weights);
    this.program.weights.share(weights);
    this.stale = true;
  }

  get maxSum(): number {
    return this.program.maxSum;
  }

  begin(microBatches: number): EnginePass {
    const pass = this.program.begin(microBatches);
    const ofTape = passOfOne((batch, randomKey, into) => this.gradientsOfTape(batch, randomKey, into));
    const begun: EnginePass = {
      add: (batch, randomKey) => {
        this.tape.checkBatch(batch, this.takesSparse && microBatches === 1);
        withinMemory(() => pass.add(batch, randomKey));
        if (microBatches === 1) ofTape.add(batch, randomKey);
      },
      gradients: (into, onFinal) => {
        this.tape.checkFlat(into);
        return withinMemory(() => pass.gradients(into, onFinal)) ?? ofTape.gradients(into);
      },
    };
    this.passes.set(begun, pass);
    return begun;
  }

  private gradientsOfTape(batch: Batch, randomKey: string, into: Float32Array): BatchResult {
    const result = this.upToDate().gradients(batch, randomKey, into);
    if (this.lossScale !== 1) for (let i = 0; i < this.trainableCount; i += 1) into[i]! *= this.lossScale;
    return result;
  }

  explainNonFinite(batch: Batch, randomKey: string): NonFinite | undefined {
    return this.upToDate().explainNonFinite(batch, randomKey);
  }

  attachOptimizer(settings: OptimizerSettings, weights: Float32Array): ModelOptimizer {
    const inMemory = memoryOptimizer(this, settings, weights);
    const { slots } = inMemory;
    const optimizer = this.program.attachOptimizer?.(settings, { weights, slots });
    if (optimizer === undefined) return inMemory;
    return {
      slots,
      get takesPasses() {
        return optimizer.active;
      },
      read: () => optimizer.read(),
      step: (gradient, update) => {
        if (gradient instanceof Float32Array && !optimizer.active) return inMemory.step(gradient, update);
        this.stale = true;
        if (gradient instanceof Float32Array) return { results: [], gradientNorm: optimizer.apply(gradient, update) };
        const taken = this.passes.get(gradient)?.step?.(update);
        if (taken === undefined) throw new TypeError("this optimizer takes passes of its own model alone");
        return taken;
      },
    };
  }

  evaluate(batch: Batch): BatchResult {
    this.tape.checkBatch(batch);
    return this.program.evaluate?.(batch) ?? this.upToDate().evaluate(batch);
  }

  predict(inputs: Float32Array, rows: number): Float32Array {
    return this.upToDate().predict(inputs, rows);
  }

  topology(): string {
    return this.tape.topology();
  }

  dispose(): void {
    this.program.dispose();
    this.tape.dispose();
  }
}
