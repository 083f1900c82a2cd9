import type { ModelArtifact } from "../evaluation/model-artifact";
import type { RawRow } from "../features/transform";
import type { ExportableModel, ExportTools, TrainedFiles } from "./ports";

export const exportFormats = ["onnx", "safetensors", "tfjs", "mlflow"] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** The input of an exporter. */
export interface ExportSource {
  readonly artifact: ModelArtifact;
  readonly files: TrainedFiles;
  readonly model: ExportableModel;
  /** Rows with which every file is checked, and the platform's predictions for them. */
  readonly check: CheckRows;
  readonly tools: ExportTools;
}

/** Raw rows, their dense inputs `[rows, width]`, and the predictions: probabilities or values, `[rows, outputs]`. */
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
  /** The largest difference that the check found, if the file was run. */
  readonly difference?: number;
}

/** Creates a format's files and runs those that can be run. A function of its source. */
export type Exporter = (source: ExportSource) => Promise<readonly ExportedFile[]>;
