import { pointerAndBusViolations } from "../../test/core/registry/check/aftermath";
import type { Operation } from "../../test/core/registry/check/operation";
import { step } from "../../test/core/registry/check/reference";
import { instantViolations, replay } from "../../test/core/registry/check/replay";
import type { ConnectedRegistry } from "./registry";
import type { Store } from "./store";

export interface Verdict {
  readonly expected: readonly [number, number];
  readonly found: number;
  readonly events: number;
  readonly violations: readonly string[];
}

/**
 * Compares a model after all changes with the reference: its rows (also of deleted versions), the answers, the events on the
 * bus, and the pointer.
 *
 * @param prepared ids of operations that were done before, one after another
 * @param answers answers of the others
 */
export async function judge(
  { bus }: Store,
  { registry, production }: ConnectedRegistry,
  model: string,
  requested: {
    readonly operations: ReadonlyMap<string, Operation>;
    readonly prepared: number;
    readonly answers: ReadonlyMap<string, string>;
  },
): Promise<Verdict> {
  const { repository } = registry;
  const [head, versions, history, published] = await Promise.all([
    repository.find(model),
    repository.listVersions(model),
    repository.history(model),
    production.find(model),
  ]);
  const end = { model: head!, versions, history };
  const { states, revisions, violations: wrong } = replay(end, requested.operations);
  const heard = bus.of(model);
  const left = (await Promise.all(history.map(({ revision }) => repository.findEvent(model, revision)))).filter(
    Boolean,
  );
  const violations = [...wrong, ...instantViolations(end)];
  violations.push(
    ...pointerAndBusViolations(
      end.model,
      heard.map(({ revision }) => revision),
      published,
      left.length,
    ),
  );
  const entries = new Map(history.map((entry) => [entry.revision, JSON.stringify(Object.entries(entry).sort())]));
  for (const { team: _team, model: _model, ...event } of heard) {
    const { platform: _platform, ...entry } = event as typeof event & { readonly platform: string };
    if (JSON.stringify(Object.entries(entry).sort()) !== entries.get(entry.revision))
      violations.push(`the bus has ${JSON.stringify(entry)}, history has ${entries.get(entry.revision)}`);
  }

  let [least, most] = [requested.prepared, requested.prepared];
  for (const [id, answer] of requested.answers) {
    const operation = requested.operations.get(id)!;
    const nothingToDo = states.some((state) => step(state, operation).kind === "nothing");
    if (answer === "died") most += 1;
    if (answer === "done" && (revisions.has(id) || !nothingToDo)) [least, most] = [least + 1, most + 1];
    if (answer === "done" && !revisions.has(id) && !nothingToDo) violations.push(`${id} is done, and not in history`);
    if (answer !== "done" && answer !== "died" && revisions.has(id)) violations.push(`${id} is ${answer}, and done`);
    if (!/^(done|died|[A-Z_]+)$/.test(answer)) violations.push(`${id} failed: ${answer}`);
  }
  if (history.length < least || history.length > most)
    violations.push(`it has ${history.length} entries, expected are ${least} to ${most}`);
  return { expected: [least, most], found: history.length, events: heard.length, violations };
}
