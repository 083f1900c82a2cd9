import type { Json, JsonObject } from "../json";
import type { Catcher, State } from "../types";
import { fillPayload } from "./intrinsic-parse";
import { insert, resolve } from "./path";
import type { Scope } from "./scope";
import { fillTemplate } from "./template";

/*
 * The data flow through a state:
 * JSONata:  input → Arguments → (the work) → result → Output
 * JSONPath: input → InputPath → Parameters → (the work) → ResultSelector → ResultPath (into the input) → OutputPath
 */

const applyPath = (path: string | null | undefined, field: string, scope: Scope, subject: Json): Json => {
  if (path === undefined) return subject;
  return path === null ? {} : resolve(path, field, scope, subject);
};

const filtered = (state: State, scope: Scope): Json => applyPath(state.InputPath, "InputPath", scope, scope.input);

/** Returns the input of the state's work: a task's parameters, or the input of a Parallel or Map. */
export async function argumentsOf(state: State, scope: Scope): Promise<Json> {
  if (scope.language === "JSONata") {
    return state.Arguments === undefined ? scope.input : fillTemplate(state.Arguments, "Arguments", scope);
  }
  const input = filtered(state, scope);
  return state.Parameters === undefined ? input : fillPayload(state.Parameters, "Parameters", scope, input);
}

/**
 * Returns the input of a Map. It is like `argumentsOf`, except that Parameters (the former ItemSelector) belong to each
 * item.
 */
export const mapInput = (state: State, scope: Scope): Json =>
  scope.language === "JSONata" ? scope.input : filtered(state, scope);

export interface Exit {
  readonly output: Json;
  readonly assigned?: JsonObject;
}

async function exit(output: Json, assign: Promise<Json> | Json | undefined): Promise<Exit> {
  return assign === undefined ? { output } : { output, assigned: (await assign) as JsonObject };
}

/** Returns the output and new variables of a state whose work returned `result`. */
export async function exitWithResult(state: State, scope: Scope, result: Json): Promise<Exit> {
  if (scope.language === "JSONata") {
    const seen = { ...scope, result };
    const output = state.Output === undefined ? result : await fillTemplate(state.Output, "Output", seen);
    return exit(output, state.Assign && fillTemplate(state.Assign, "Assign", seen));
  }
  const selected =
    state.ResultSelector === undefined ? result : fillPayload(state.ResultSelector, "ResultSelector", scope, result);
  const assigned = state.Assign && fillPayload(state.Assign, "Assign", scope, selected);
  return exit(afterResult(state, scope, selected), assigned);
}

function afterResult(state: State, scope: Scope, result: Json): Json {
  const { ResultPath: path = "$" } = state;
  const placed = path === null ? scope.input : insert(path, result, scope.input);
  return applyPath(state.OutputPath, "OutputPath", scope, placed);
}

/** Returns the output of a state without work: Choice, Wait, Succeed. */
export async function exitWithInput(state: State, scope: Scope): Promise<Exit> {
  if (scope.language === "JSONata") {
    const output = state.Output === undefined ? scope.input : await fillTemplate(state.Output, "Output", scope);
    return exit(output, state.Assign && fillTemplate(state.Assign, "Assign", scope));
  }
  const input = filtered(state, scope);
  const assigned = state.Assign && fillPayload(state.Assign, "Assign", scope, input);
  return exit(applyPath(state.OutputPath, "OutputPath", scope, input), assigned);
}

/**
 * Returns the output of a Pass state. In JSONata it has only Output. In JSONPath its Result or Parameters are the
 * result of its work.
 */
export async function exitPass(state: State, scope: Scope): Promise<Exit> {
  if (scope.language === "JSONata") return exitWithInput(state, scope);
  const result = state.Result ?? (await argumentsOf(state, scope));
  const assigned = state.Assign && fillPayload(state.Assign, "Assign", scope, result);
  return exit(afterResult(state, scope, result), assigned);
}

/** Returns the output and new variables of a state whose failure was caught. `index` is the position of the catcher. */
export async function exitCaught(catcher: Catcher, index: number, scope: Scope, error: JsonObject): Promise<Exit> {
  const field = `Catch[${index}]`;
  if (scope.language === "JSONata") {
    const seen = { ...scope, errorOutput: error };
    const output = catcher.Output === undefined ? error : await fillTemplate(catcher.Output, `${field}/Output`, seen);
    return exit(output, catcher.Assign && fillTemplate(catcher.Assign, `${field}/Assign`, seen));
  }
  const { ResultPath: path = "$" } = catcher;
  const output = path === null ? scope.input : insert(path, error, scope.input);
  return exit(output, catcher.Assign && fillPayload(catcher.Assign, `${field}/Assign`, scope, error));
}
