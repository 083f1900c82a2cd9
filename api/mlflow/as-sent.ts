/** Matches a string or a number of a JSON text. */
const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const mark = "\u0000number:";
const marked = /"\\u0000number:([^"]*)"/g;

/**
 * Returns a member of a JSON text as it was sent: JavaScript reads `9.0` as `9`, and MLflow's client tests look for
 * `9.0` in the refusal.
 *
 * @param path as in `tags`, `metrics[3].key`
 */
export function memberAsSent(json: string, path: string): string | undefined {
  let part: unknown = withMarkedNumbers(json);
  // Old clients send their JSON as a JSON text.
  if (typeof part === "string") part = withMarkedNumbers(part);
  for (const name of path.split(/[.[\]]+/).filter((each) => each !== "")) {
    part = (part as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  }
  return JSON.stringify(part)?.replaceAll(marked, "$1");
}

function withMarkedNumbers(json: string): unknown {
  return JSON.parse(
    json.replaceAll(stringOrNumber, (token) => (token[0] === '"' ? token : JSON.stringify(mark + token))),
  );
}
