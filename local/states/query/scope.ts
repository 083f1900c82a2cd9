import type { Json, JsonObject } from "../json";

/** The values that an expression in a state may use. */
export interface Scope {
  /** The state's input when the state was entered. */
  readonly input: Json;
  /** The context object: `$states.context`. */
  readonly context: JsonObject;
  /** The visible variables. Inner scopes hide outer ones. */
  readonly variables: JsonObject;
  /** `$states.result`: the result of a Task, Parallel or Map. */
  readonly result?: Json;
  /** `$states.errorOutput` in a Catch. */
  readonly errorOutput?: JsonObject;
  /** The time for `$now()`, in milliseconds since the epoch. */
  readonly now: number;
}
