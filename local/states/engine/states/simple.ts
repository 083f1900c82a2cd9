import { rfc3339 } from "../../json";
import { exitWithInput } from "../../query/dataflow";
import type { Scope } from "../../query/scope";
import { fillTemplate, unexpectedType } from "../../query/template";
import { scopeOf, type View } from "../context";
import { type Draft, draft, exitDraft } from "../draft";
import { stateOf, type Thread } from "../thread";

export const pass = async (view: View, thread: Thread): Promise<readonly Draft[]> =>
  exitDraft(thread, await exitWithInput(stateOf(thread), scopeOf(view, thread)));

async function message(scope: Scope, field: "Error" | "Cause", text?: string): Promise<string | undefined> {
  if (text === undefined) return undefined;
  const value = await fillTemplate(text, field, scope);
  if (typeof value === "string") return value;
  throw unexpectedType(field, "string", value);
}

export async function failState(view: View, thread: Thread): Promise<readonly Draft[]> {
  const state = stateOf(thread);
  const scope = scopeOf(view, thread);
  const error = await message(scope, "Error", state.Error);
  const cause = await message(scope, "Cause", state.Cause);
  return [draft(thread, { type: "StateFailed", error, cause })];
}

const maxSeconds = 99_999_999;

export async function seconds(
  scope: Scope,
  field: string,
  value: number | string | undefined,
  least: number,
): Promise<number | undefined> {
  if (value === undefined) return undefined;
  const filled = await fillTemplate(value, field, scope);
  if (typeof filled !== "number") throw unexpectedType(field, "number", filled);
  if (filled < least || filled > maxSeconds || !Number.isInteger(filled)) {
    throw unexpectedType(field, `an integer between ${least} and ${maxSeconds}`, filled);
  }
  return filled;
}

export async function wait(view: View, thread: Thread): Promise<readonly Draft[]> {
  const { Seconds, Timestamp = "" } = stateOf(thread);
  const scope = scopeOf(view, thread);
  const delay = await seconds(scope, "Seconds", Seconds, 0);
  if (delay !== undefined) return [draft(thread, { type: "WaitArmed", until: thread.enteredAt + delay * 1000 })];
  const stamp = await fillTemplate(Timestamp, "Timestamp", scope);
  const until = typeof stamp === "string" && rfc3339.test(stamp) ? Date.parse(stamp) : Number.NaN;
  if (Number.isNaN(until)) throw unexpectedType("Timestamp", "an RFC 3339 timestamp", stamp);
  return [draft(thread, { type: "WaitArmed", until })];
}
