import type { Json, JsonObject } from "../json";

export interface Scope {
  readonly input: Json;
  readonly context: JsonObject;
  readonly variables: JsonObject;
  readonly result?: Json;
  /** `$states.errorOutput` in a Catch. */
  readonly errorOutput?: JsonObject;
  readonly now: number;
}
