import type { WorkerRecord } from "./run";
import type { LogPage } from "./shapes";

export type { LogLine, LogPage } from "./shapes";

/** The port to what trainers print. */
export interface WorkerLogs {
  read(
    workers: readonly WorkerRecord[],
    query: { readonly worker?: number; readonly nextToken?: string },
  ): Promise<LogPage>;
}
