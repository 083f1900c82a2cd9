import type { WorkerRecord } from "./run";

export interface LogLine {
  readonly worker: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly message: string;
}

export interface LogPage {
  readonly lines: readonly LogLine[];
  readonly nextToken?: string;
}

/** The port to what trainers print. */
export interface WorkerLogs {
  read(
    workers: readonly WorkerRecord[],
    query: { readonly worker?: number; readonly nextToken?: string },
  ): Promise<LogPage>;
}
