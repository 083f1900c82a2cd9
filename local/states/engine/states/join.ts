import { isArray, isInteger, isObject, type Json } from "../../json";
import { argumentsOf } from "../../query/dataflow";
import type { Scope } from "../../query/scope";
import { fillTemplate, unexpectedType } from "../../query/template";
import { scopeOf, type View } from "../context";
import { type Draft, draft, withinLimit } from "../draft";
import { type MapRun, mapRunResource } from "../map-run";
import { type JoinPhase, stateOf, type Thread } from "../thread";

/** The maximum number of concurrent iterations of an inline Map, and of children of a distributed one. */
const maxConcurrency = { INLINE: 40, DISTRIBUTED: 10_000 } as const;

export async function startParallel(view: View, thread: Thread): Promise<readonly Draft[]> {
  return [draft(thread, { type: "ParallelStarted", input: await argumentsOf(stateOf(thread), scopeOf(view, thread)) })];
}

async function itemsOf(thread: Thread, scope: Scope): Promise<readonly Json[]> {
  const { Items } = stateOf(thread);
  const items = Items === undefined ? scope.input : await fillTemplate(Items, "Items", scope);
  if (isArray(items)) return items;
  if (isObject(items)) return Object.entries(items).map(([Key, Value]) => ({ Key, Value }));
  throw unexpectedType("Items", "array", items);
}

async function concurrencyOf(thread: Thread, scope: Scope): Promise<number> {
  const { MaxConcurrency = 0 } = stateOf(thread);
  const value = await fillTemplate(MaxConcurrency, "MaxConcurrency", scope);
  if (!isInteger(value) || value < 0) throw unexpectedType("MaxConcurrency", "a non-negative integer", value);
  const most = maxConcurrency[modeOf(thread)];
  return value === 0 ? most : Math.min(value, most);
}

function modeOf(thread: Thread): "INLINE" | "DISTRIBUTED" {
  return stateOf(thread).ItemProcessor?.ProcessorConfig?.Mode ?? "INLINE";
}

export async function startMap(view: View, thread: Thread): Promise<readonly Draft[]> {
  const scope = scopeOf(view, thread);
  const items = await itemsOf(thread, scope);
  if (modeOf(thread) === "DISTRIBUTED") return startMapRun(view, thread, items, await concurrencyOf(thread, scope));
  return [draft(thread, { type: "MapStarted", items, concurrency: await concurrencyOf(thread, scope) })];
}

async function startMapRun(
  view: View,
  thread: Thread,
  items: readonly Json[],
  concurrency: number,
): Promise<readonly Draft[]> {
  const inputs: Json[] = [];
  for (const [index, item] of items.entries()) inputs.push(await itemInput(view, thread, item, index));
  const label = stateOf(thread).Label ?? thread.state;
  // The position in the log distinguishes the runs of a state that is entered again, or retried.
  const parameters: MapRun = { state: thread.state, label, id: String(view.state.seq), inputs, concurrency };
  return [
    draft(thread, { type: "TaskScheduled", resource: mapRunResource, parameters: { ...parameters } }),
    draft(thread, { type: "TaskStarted", resource: mapRunResource }),
  ];
}

async function itemInput(view: View, thread: Thread, item: Json, index: number): Promise<Json> {
  const { ItemSelector: template } = stateOf(thread);
  if (template === undefined) return item;
  const outer = scopeOf(view, thread);
  const scope = { ...outer, context: { ...outer.context, Map: { Item: { Index: index, Value: item } } } };
  return fillTemplate(template, "ItemSelector", scope);
}

export async function proceedMap(view: View, thread: Thread, phase: JoinPhase): Promise<readonly Draft[]> {
  if (phase.finished === phase.size) return ended(thread, phase, "MapSucceeded");
  if (phase.started === phase.size || phase.running.size >= phase.concurrency) return [];
  const index = phase.started;
  const input = await itemInput(view, thread, phase.items?.[index] ?? null, index);
  return [draft(thread, { type: "MapIterationStarted", name: thread.state, index, input })];
}

export function proceedParallel(thread: Thread, phase: JoinPhase): readonly Draft[] {
  return phase.finished === phase.size ? ended(thread, phase, "ParallelSucceeded") : [];
}

function ended(thread: Thread, phase: JoinPhase, type: "MapSucceeded" | "ParallelSucceeded"): readonly Draft[] {
  withinLimit(phase.outputs, thread.state);
  return [draft(thread, { type })];
}
