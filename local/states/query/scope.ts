import type { Json, JsonObject } from "../json";
import type { QueryLanguage } from "../types";

/** What an expression in a state may refer to. */
export interface Scope {
  readonly language: QueryLanguage;
  /** The state's input, as it was when the state was entered. */
  readonly input: Json;
  /** The context object: `$states.context`, or `$$` in JSONPath. */
  readonly context: JsonObject;
  /** The variables in sight: the outer scopes' and, over them, the own. */
  readonly variables: JsonObject;
  /** `$states.result`: what a Task, Parallel or Map gave. */
  readonly result?: Json;
  /** `$states.errorOutput`, in a Catch. */
  readonly errorOutput?: JsonObject;
  /** Milliseconds since the epoch, for `$now()`. */
  readonly now: number;
}
