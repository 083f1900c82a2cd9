import type { Json, JsonObject } from "../json";

export interface Scope {
  readonly input: Json;
  readonly context: JsonObject;
  readonly variables: JsonObject;
  /** `$states.result`: the result of a Task, Parallel or Map. */
  readonly result?: Json;
  /** `$states.errorOutput` in a Catch. */
  readonly errorOutput?: JsonObject;
  readonly now: number;
}
