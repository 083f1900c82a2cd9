import { isArray, isObject, type Json, type JsonObject } from "../json";
import type { Report } from "./report";

interface Assignment {
  readonly variable: string;
  readonly at: string;
}

function assignments(states: JsonObject, at: string): readonly Assignment[] {
  return Object.entries(states).flatMap(([name, state]) => {
    if (!isObject(state)) return [];
    const here = `${at}/States/${name}`;
    const listed = (field: "Catch" | "Choices") =>
      (isArray(state[field]) ? state[field] : []).flatMap((each, i) =>
        isObject(each) ? variables(each["Assign"], `${here}/${field}[${i}]/Assign`) : [],
      );
    return [...variables(state["Assign"], `${here}/Assign`), ...listed("Catch"), ...listed("Choices")];
  });
}

const variables = (assign: Json | undefined, at: string): readonly Assignment[] =>
  isObject(assign) ? Object.keys(assign).map((key) => ({ variable: key, at: `${at}/${key}` })) : [];

/**
 * Checks a scope against the enclosing scopes. It may read their variables but not assign them.
 * @returns the variables that are assigned in the scope and around it
 */
export function checkScope(
  states: JsonObject,
  outer: ReadonlySet<string>,
  report: Report,
  at: string,
): ReadonlySet<string> {
  const ownNames = assignments(states, at);
  for (const { variable, at: place } of ownNames) {
    if (outer.has(variable)) report.add(place, `The variable '${variable}' is assigned in an outer scope already`);
  }
  return new Set([...outer, ...ownNames.map(({ variable }) => variable)]);
}
