import type { RawRow } from "../features/transform";
import type { ModelArtifact } from "../registry/model";
import type { ExportableModel, ExportTools, TrainedFiles } from "./ports";

export const exportFormats = ["onnx", "safetensors", "tfjs", "mlflow"] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** What an exporter is given. */
export interface ExportSource {
  readonly artifact: ModelArtifact;
  readonly files: TrainedFiles;
  readonly model: ExportableModel;
  /** Rows that every file is checked on, and what the platform says of them. */
  readonly check: CheckRows;
  readonly tools: ExportTools;
}

/** Raw rows, their dense inputs `[rows, width]`, and the predictor's answer: probabilities or values, `[rows, outputs]`. */
export interface CheckRows {
  readonly rows: readonly RawRow[];
  readonly dense: Float32Array;
  readonly predicted: Float32Array;
}

export interface ExportedFile {
  /** Relative to the export's directory. */
  readonly path: string;
  readonly contentType: string;
  readonly body: Uint8Array | string;
  /** The largest difference that the check found, where the file was run. */
  readonly difference?: number;
}

/** Makes a format's files and runs what can be run of them. A function of its source: the same files each time. */
export type Exporter = (source: ExportSource) => Promise<readonly ExportedFile[]>;
