import type { CnnDefinition, MlpDefinition } from "../../core/runs/model-definition";

export type BenchModel = MlpDefinition | CnnDefinition;

/** A rank's training, known from its start; `ddp.py` reads the same. */
export interface Setup {
  readonly model: BenchModel;
  /** Rows of a global batch. */
  readonly batchSize: number;
  readonly backend: "native" | "wasm";
  /** V. */
  readonly microshards: number;
}

/** One line of JSON: a number of steps that are timed together. */
export interface Task {
  readonly steps: number;
}

export interface Measured {
  readonly seconds: number;
  /** CPU time of all threads of the process, user and system. */
  readonly cpuSeconds: number;
  /** Loss of the last step's global batch; PyTorch's ranks report their own part's. */
  readonly loss: number;
}

export interface Ready {
  readonly parameters: number;
}
