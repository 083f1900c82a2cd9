import type { Json, JsonObject } from "../json";
import type { Catcher, State } from "../schema";
import type { Scope } from "./scope";
import { fillTemplate } from "./template";

/** Returns the input of the state's work: a task's parameters, or the input of a Parallel. */
export async function argumentsOf(state: State, scope: Scope): Promise<Json> {
  return state.Arguments === undefined ? scope.input : fillTemplate(state.Arguments, "Arguments", scope);
}

export interface Exit {
  readonly output: Json;
  readonly assigned?: JsonObject;
}

/** Returns the output, which is `otherwise` without a field `Output`, and the new variables. `at` begins the fields' names. */
async function exit(
  { Output, Assign }: Pick<State, "Output" | "Assign">,
  scope: Scope,
  otherwise: Json,
  at = "",
): Promise<Exit> {
  const output = Output === undefined ? otherwise : await fillTemplate(Output, `${at}Output`, scope);
  if (Assign === undefined) return { output };
  return { output, assigned: (await fillTemplate(Assign, `${at}Assign`, scope)) as JsonObject };
}

export const exitWithResult = (state: State, scope: Scope, result: Json): Promise<Exit> =>
  exit(state, { ...scope, result }, result);

export const exitWithInput = (state: State, scope: Scope): Promise<Exit> => exit(state, scope, scope.input);

/** Leaves a state whose failure was caught. `index` is the position of the catcher. */
export const exitCaught = (catcher: Catcher, index: number, scope: Scope, error: JsonObject): Promise<Exit> =>
  exit(catcher, { ...scope, errorOutput: error }, error, `Catch[${index}]/`);
