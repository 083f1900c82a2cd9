import type { Precision } from "../../core/runs/hyperparameters";
import type { NumericsRecord } from "../../core/runs/shapes";
import type { BenchModel } from "../train/modules";
import type { Task } from "../train/protocol";

export interface CheckSetup {
  readonly model: BenchModel;
  readonly batchSize: number;
  readonly microBatches: number;
  readonly precision: Precision;
  readonly device: "gpu" | "cpu";
  /** File of the training's state: read at the start, if it exists, and written every `everySteps` steps. */
  readonly state?: string;
}

/** Steps between two writes of the state. */
export const everySteps = 5;

export interface CheckReady {
  readonly finishedSteps: number;
  readonly numerics: NumericsRecord;
}

export interface CheckTask extends Task {
  /** Whether the result has the digest of the training's state. */
  readonly digest: boolean;
}

export interface CheckResult {
  readonly seconds: number;
  /** Method that computed the gradients. */
  readonly engine: "graph" | "tape";
  readonly digest?: string;
}
