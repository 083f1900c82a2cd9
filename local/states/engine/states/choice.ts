import { StateError } from "../../errors";
import type { Json } from "../../json";
import { exitWithInput } from "../../query/dataflow";
import type { Scope } from "../../query/scope";
import { fillTemplate, unexpectedType } from "../../query/template";
import type { ChoiceRule } from "../../types";
import { scopeOf, type View } from "../context";
import { type Draft, exitDraft } from "../draft";
import { stateOf, type Thread } from "../thread";

async function holds(rule: ChoiceRule, index: number, scope: Scope): Promise<boolean> {
  const field = `Choices[${index}]/Condition`;
  const value = await fillTemplate(rule.Condition as Json, field, scope);
  if (typeof value === "boolean") return value;
  throw unexpectedType(field, "boolean", value);
}

/** Takes the first rule that holds. Its Output and Assign replace the state's. */
export async function choose(view: View, thread: Thread): Promise<readonly Draft[]> {
  const state = stateOf(thread);
  const scope = scopeOf(view, thread);
  for (const [index, rule] of (state.Choices ?? []).entries()) {
    if (!(await holds(rule, index, scope))) continue;
    const { Assign: assign, Output: output } = rule;
    const own = { ...state, Assign: assign, ...(output !== undefined && { Output: output }) };
    return exitDraft(thread, await exitWithInput(own, scope), rule.Next);
  }
  if (state.Default === undefined) {
    throw new StateError("States.NoChoiceMatched", "No rule of the Choice state matched, and it has no Default.");
  }
  return exitDraft(thread, await exitWithInput(state, scope), state.Default);
}
