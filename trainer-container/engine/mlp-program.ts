import type { Batch, BatchResult, EngineOptimizer, OnFinal, OptimizerMemory, OptimizerSettings } from "./engine";
import type { GraphProgram } from "./graph/program";
import type { SparseProgram } from "./native/sparse-program";
import type { GradientProgram } from "./program-trainable";

/** The passes of a built-in mlp: graphs for dense rows, and a program for the gradients from sparse rows. */
export class MlpProgram implements GradientProgram {
  readonly takesSparse = true;
  readonly weights: GradientProgram["weights"];

  constructor(
    private readonly graph: GraphProgram,
    private readonly sparse: SparseProgram,
  ) {
    const both = [graph.weights, sparse.weights];
    this.weights = {
      write: (from) => {
        for (const weights of both) weights.write(from);
      },
      read: (into) => graph.weights.read(into),
      share: (memory) => {
        for (const weights of both) weights.share(memory);
      },
    };
  }

  get maxSum(): number {
    return this.graph.maxSum;
  }

  scaleLoss(scale: number): void {
    this.graph.scaleLoss(scale);
    this.sparse.lossScale = scale;
  }

  beginSum(microBatches: number) {
    return this.graph.beginSum(microBatches);
  }

  attachOptimizer(settings: OptimizerSettings, memory: OptimizerMemory): EngineOptimizer {
    return this.graph.attachOptimizer(settings, memory);
  }

  gradients(batch: Batch, randomKey: string, into: Float32Array, onFinal?: OnFinal): BatchResult | undefined {
    if (batch.sparse === undefined) return this.graph.gradients(batch, randomKey, into);
    return this.sparse.gradients(batch, batch.sparse, into, onFinal);
  }

  evaluate(batch: Batch): BatchResult | undefined {
    return this.graph.evaluate(batch);
  }

  dispose(): void {
    this.graph.dispose();
    this.sparse.dispose();
  }
}
