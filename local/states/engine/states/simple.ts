import { type Json, rfc3339 } from "../../json";
import { exitPass, exitWithInput } from "../../query/dataflow";
import { expressionValue } from "../../query/intrinsic-parse";
import { resolve } from "../../query/path";
import type { Scope } from "../../query/scope";
import { fillTemplate, unexpectedType } from "../../query/template";
import { scopeOf, type View } from "../context";
import { type Draft, draft, exitDraft } from "../draft";
import { stateOf, type Thread } from "../thread";

export const pass = async (view: View, thread: Thread): Promise<readonly Draft[]> =>
  exitDraft(thread, await exitPass(stateOf(thread), scopeOf(view, thread)));

/** Leaves a Succeed state, or a Wait that is over. */
export const succeed = async (view: View, thread: Thread): Promise<readonly Draft[]> =>
  exitDraft(thread, await exitWithInput(stateOf(thread), scopeOf(view, thread)));

async function message(
  scope: Scope,
  field: "Error" | "Cause",
  text?: string,
  path?: string,
): Promise<string | undefined> {
  if (path !== undefined) return asText(scope, field, expressionValue(path, `${field}Path`, scope, scope.input));
  if (text === undefined || scope.language === "JSONPath") return text;
  return asText(scope, field, await fillTemplate(text, field, scope));
}

function asText(scope: Scope, field: string, value: Json): string {
  if (typeof value === "string") return value;
  throw unexpectedType(scope.language, field, "string", value);
}

export async function failState(view: View, thread: Thread): Promise<readonly Draft[]> {
  const { Error: error, ErrorPath: errorPath, Cause: cause, CausePath: causePath } = stateOf(thread);
  const scope = scopeOf(view, thread);
  const named = await message(scope, "Error", error, errorPath);
  const why = await message(scope, "Cause", cause, causePath);
  return [
    draft(thread, {
      type: "StateFailed",
      ...(named !== undefined && { error: named }),
      ...(why !== undefined && { cause: why }),
    }),
  ];
}

/** The maximum Wait, and the maximum timeout of a task, in seconds. */
const maxSeconds = 99_999_999;

/** Evaluates a field that is a whole number of seconds: a literal, an expression, or a path. */
export async function seconds(
  scope: Scope,
  field: string,
  value: number | string | undefined,
  path: string | undefined,
  least: number,
): Promise<number | undefined> {
  if (value === undefined && path === undefined) return undefined;
  const found =
    path === undefined ? await fillTemplate(value as Json, field, scope) : resolve(path, `${field}Path`, scope);
  if (typeof found !== "number") throw unexpectedType(scope.language, field, "number", found);
  if (found < least || found > maxSeconds || (scope.language === "JSONata" && !Number.isInteger(found))) {
    throw unexpectedType(scope.language, field, `an integer between ${least} and ${maxSeconds}`, found);
  }
  return found;
}

export async function wait(view: View, thread: Thread): Promise<readonly Draft[]> {
  const { Seconds, SecondsPath, Timestamp, TimestampPath } = stateOf(thread);
  const scope = scopeOf(view, thread);
  const delay = await seconds(scope, "Seconds", Seconds, SecondsPath, 0);
  if (delay !== undefined) return [draft(thread, { type: "WaitArmed", until: thread.enteredAt + delay * 1000 })];
  const stamp =
    TimestampPath === undefined
      ? await fillTemplate(Timestamp ?? "", "Timestamp", scope)
      : resolve(TimestampPath, "TimestampPath", scope);
  const until = typeof stamp === "string" && rfc3339.test(stamp) ? Date.parse(stamp) : Number.NaN;
  if (Number.isNaN(until)) throw unexpectedType(scope.language, "Timestamp", "an RFC 3339 timestamp", stamp);
  return [draft(thread, { type: "WaitArmed", until })];
}
