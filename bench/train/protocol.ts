import type { Precision } from "../../core/runs/hyperparameters";
import type { BenchModel } from "./modules";

export interface Setup {
  readonly model: BenchModel;
  readonly asModule?: boolean;
  readonly batchSize: number;
  readonly backend: "native" | "wasm";
  /** V. */
  readonly microBatches: number;
}

export interface TorchSetup extends Setup {
  /** DistributedDataParallel, the model alone, or the model compiled by `torch.compile`. */
  readonly torch: "ddp" | "eager" | "compile";
  /** Default `cpu`. Its batches are on the device before they are timed. */
  readonly device?: "cpu" | "cuda";
  /** By autocast for 16 bits. Default float32. */
  readonly precision?: Precision;
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

export interface Failed {
  /** The reason why this kind of training is impossible here. */
  readonly failure: string;
}

export interface Ready {
  readonly parameters: number;
}
