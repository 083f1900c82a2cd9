import type { Clock } from "../../clock";
import type { Engine } from "../engine/engine";
import type { Store } from "../store/store";
import type { Input } from "./input";

/** The stores and functions that the API's operations use. */
export interface Api {
  readonly store: Store;
  readonly engine: Engine;
  readonly clock: Clock;
  /** Runs changes of one state machine one after another. */
  exclusively<T>(machine: string, change: () => Promise<T>): Promise<T>;
  /** Ends a machine's executions and removes it, if it is marked for deletion. */
  finishDeletion(machine: string): Promise<void>;
}

export type Operation = (input: Input, api: Api) => Promise<object>;
