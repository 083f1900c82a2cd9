import type { WorkerRecord } from "../runs/run";
import type { LogPage } from "../runs/shapes";

export type { LogLine, LogPage } from "../runs/shapes";

/** The port to the trainers' output. */
export interface WorkerLogs {
  read(
    workers: readonly WorkerRecord[],
    query: { readonly worker?: number; readonly nextToken?: string },
  ): Promise<LogPage>;
}
