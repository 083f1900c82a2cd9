import {
  type Batch,
  type BatchResult,
  type EngineOptimizer,
  type EnginePass,
  type ModelLayer,
  type NonFinite,
  type OnFinal,
  type OptimizerMemory,
  type OptimizerSettings,
  type ParameterSlot,
  passOfOne,
  type TrainableModel,
} from "./engine";
import type { LayersTrainable } from "./layers-trainable";
import { withinMemory } from "./wasm/memory";

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
  attachOptimizer?(settings: OptimizerSettings, memory: OptimizerMemory): EngineOptimizer;
  /** Computes as `TrainableModel.evaluate`. @returns undefined if it cannot */
  evaluate?(batch: Batch): BatchResult | undefined;
  dispose(): void;
}

/** See `EnginePass`. Its gradients are undefined if the program cannot compute them. Only one micro-batch can be such a pass. */
export interface ProgramPass extends Pick<EnginePass, "add" | "step"> {
  gradients(into: Float32Array, onFinal?: OnFinal): readonly BatchResult[] | undefined;
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
    return {
      add: (batch, randomKey) => {
        this.tape.checkBatch(batch, this.takesSparse && microBatches === 1);
        withinMemory(() => pass.add(batch, randomKey));
        if (microBatches === 1) ofTape.add(batch, randomKey);
      },
      gradients: (into, onFinal) => {
        this.tape.checkFlat(into);
        return withinMemory(() => pass.gradients(into, onFinal)) ?? ofTape.gradients(into);
      },
      step: (update) => {
        this.stale = true;
        return pass.step(update);
      },
    };
  }

  private gradientsOfTape(batch: Batch, randomKey: string, into: Float32Array): BatchResult {
    const result = this.upToDate().gradients(batch, randomKey, into);
    if (this.lossScale !== 1) for (let i = 0; i < this.trainableCount; i += 1) into[i]! *= this.lossScale;
    return result;
  }

  explainNonFinite(batch: Batch, randomKey: string): NonFinite | undefined {
    return this.upToDate().explainNonFinite(batch, randomKey);
  }

  attachOptimizer(settings: OptimizerSettings, memory: OptimizerMemory): EngineOptimizer | undefined {
    const optimizer = this.program.attachOptimizer?.(settings, memory);
    return (
      optimizer && {
        get active() {
          return optimizer.active;
        },
        read: () => optimizer.read(),
        apply: (sum, update) => {
          this.stale = true;
          return optimizer.apply(sum, update);
        },
      }
    );
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
