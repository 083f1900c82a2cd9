import { parseJson } from "../json";
import { type Container, type State, stateMachine } from "./schema";

export interface Diagnostic {
  readonly code: "INVALID_JSON_DESCRIPTION" | "SCHEMA_VALIDATION_FAILED" | "MISSING_TRANSITION_TARGET";
  readonly message: string;
  readonly location: string;
}

/** The maximum size of a definition: 1 MiB. */
const maxDefinitionBytes = 1_048_576;

/** Returns what is wrong with a definition: its fields, or else the transitions, names and variables. */
export function validateDefinition(text: string): readonly Diagnostic[] {
  const failed = (message: string, code: Diagnostic["code"] = "SCHEMA_VALIDATION_FAILED", location = "/") =>
    [{ code, message, location }] as const;
  if (Buffer.byteLength(text) > maxDefinitionBytes)
    return failed(`the definition is longer than ${maxDefinitionBytes} bytes`);
  let definition: unknown;
  try {
    definition = parseJson(text);
  } catch (error) {
    return failed((error as Error).message, text.trim() ? "INVALID_JSON_DESCRIPTION" : undefined);
  }
  const { data, error } = stateMachine.safeParse(definition);
  if (data) return scopeProblems(data, "", new Set(), new Set());
  return error.issues.flatMap(({ message, path }) => failed(message, undefined, locationOf(path)));
}

const locationOf = (path: readonly PropertyKey[]): string =>
  `/${path.map((key) => (typeof key === "number" ? `[${key}]` : String(key))).join("/")}`.replaceAll("/[", "[");

export function invalidDefinition(diagnostics: readonly Diagnostic[]): string {
  const listed = diagnostics.map(({ code, message, location }) => `${code}: ${message} at ${location}`);
  return `Invalid State Machine Definition: '${listed.join(", ")}'`;
}

/**
 * @param names of all states so far
 * @param outer variables that the enclosing scopes assign. An inner scope may read but not assign them.
 */
function scopeProblems(
  { StartAt: start, States: states }: Container,
  at: string,
  names: Set<string>,
  outer: ReadonlySet<string>,
): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  const add = (location: string, message: string, code: Diagnostic["code"] = "MISSING_TRANSITION_TARGET") =>
    found.push({ code, message, location: `${at}${location}` });
  const assigned = new Set([...outer, ...Object.values(states).flatMap(variablesOf)]);
  const reached = new Set<string>();
  const visit = (name: string, location: string): void => {
    const state = Object.hasOwn(states, name) ? states[name] : undefined;
    if (state === undefined) add(location, `there is no state '${name}'`);
    else if (!reached.has(name)) {
      reached.add(name);
      for (const { field, to } of targetsOf(state)) visit(to, `/States/${name}/${field}`);
    }
  };
  visit(start, "/StartAt");
  for (const [name, state] of Object.entries(states)) {
    const here = `/States/${name}`;
    if (!reached.has(name)) add(here, `state '${name}' is not reachable`);
    if (names.has(name)) add(here, `another state is called '${name}'`, "SCHEMA_VALIDATION_FAILED");
    names.add(name);
    for (const variable of variablesOf(state)) {
      if (!outer.has(variable)) continue;
      add(here, `the variable '${variable}' is assigned in an outer scope already`, "SCHEMA_VALIDATION_FAILED");
    }
    for (const [i, branch] of (state.Branches ?? []).entries())
      found.push(...scopeProblems(branch, `${at}${here}/Branches[${i}]`, names, assigned));
    const items = state.ItemProcessor;
    // A child execution sees no variable of its parent, and may use the same names.
    const visible = items?.ProcessorConfig?.Mode === "DISTRIBUTED" ? new Set<string>() : assigned;
    if (items) found.push(...scopeProblems(items, `${at}${here}/ItemProcessor`, names, visible));
  }
  return found;
}

const variablesOf = ({ Assign, Catch = [], Choices = [] }: State): readonly string[] =>
  [{ Assign }, ...Catch, ...Choices].flatMap(({ Assign: each = {} }) => Object.keys(each));

function targetsOf({ Next, Default, Catch = [], Choices = [] }: State) {
  return [
    { field: "Next", to: Next },
    { field: "Default", to: Default },
    ...Catch.map((one, i) => ({ field: `Catch[${i}]/Next`, to: one.Next })),
    ...Choices.map((one, i) => ({ field: `Choices[${i}]/Next`, to: one.Next })),
  ].flatMap(({ field, to }) => (to === undefined ? [] : [{ field, to }]));
}
