import { createModelRepository } from "../../../../adapters/dynamodb/model-repository";
import { Table } from "../../../../adapters/dynamodb/table";
import { hasCode, RingmasterError } from "../../../../core/errors";
import type { HistoryEntry, Model, ModelVersion } from "../../../../core/registry/model";
import { createRegistry, type ModelSnapshot } from "../../../../core/registry/registry";
import { Aftermath } from "./aftermath";
import type { Operation } from "./operation";
import { perform } from "./perform";
import { step } from "./reference";
import { instantViolations, type Replay, replay } from "./replay";
import { MemoryTable, type Turn } from "./table";

const model = "digits";

interface Reply {
  readonly operation: Operation;
  /** The model's revision when it was first requested, and when it was answered. */
  readonly requested: number;
  readonly answered: number;
  /** A refusal's code. */
  readonly answer: "done" | "died" | string;
}

export interface RoundOptions {
  readonly random: () => number;
  /** One after another, before. */
  readonly prepared: readonly Operation[];
  /** At the same time. */
  readonly operations: readonly Operation[];
  readonly readers: number;
  /** The chance that a process dies rather than takes its turn. */
  readonly dies: number;
}

export interface RoundResult {
  readonly violations: readonly string[];
  readonly replies: readonly Reply[];
  readonly deaths: number;
  /** Changes that were made. */
  readonly entries: number;
  /** Events that the bus received more than once. */
  readonly repeats: number;
}

export async function playRound(options: RoundOptions): Promise<RoundResult> {
  const { random, prepared, operations, readers, dies } = options;
  const table = new MemoryTable();
  const violations: string[] = [];
  const waiting: { readonly go: () => void; readonly die: () => void }[] = [];
  const replies: Reply[] = [];
  const requested = new Map<string, number>();
  const mayBeDeleted = [...prepared, ...operations].some(({ kind }) => kind === "delete-model");
  let deaths = 0;

  const aftermath = new Aftermath();
  const registryOf = (turn: Turn, conflicts: () => boolean) => {
    const repository = createModelRepository(new Table(table.client(turn, conflicts), "Catalog"), "default");
    return createRegistry(repository, () => turn("within"), aftermath.outboxOf(repository, turn));
  };
  const now = (): ModelSnapshot | undefined => snapshotOf(table);
  const revision = (): number => now()?.model.revision ?? 0;

  const alone = registryOf(
    () => Promise.resolve(),
    () => false,
  );
  for (const operation of prepared) {
    const answer = await answerOf(perform(alone, model, operation));
    if (!/^(done|[A-Z_]+)$/.test(answer)) violations.push(`${operation.id}, alone, met ${answer}`);
  }
  const before = revision();
  table.onWrite(() => violations.push(...instantViolations(now()!)));

  /** Each process has turns of its own; dead, it takes none any more, and the caller requests another process, or gives up. */
  function begin(operation: Operation): void {
    requested.set(operation.id, requested.get(operation.id) ?? revision());
    const tell = (answer: string) =>
      replies.push({ operation, requested: requested.get(operation.id)!, answered: revision(), answer });
    let alive = true;
    const die = () => {
      // It waits in several places at once where it reads several rows.
      if (!alive) return;
      alive = false;
      deaths += 1;
      if (random() < 0.7) begin(operation);
      else tell("died");
    };
    const turn: Turn = () => new Promise((resolve) => waiting.push({ go: () => alive && resolve(), die }));
    const conflicts = () => random() < 0.05;
    void answerOf(perform(registryOf(turn, conflicts), model, operation)).then(tell);
  }

  function read(): void {
    const turn: Turn = () => new Promise((resolve) => waiting.push({ go: resolve, die: resolve }));
    const registry = registryOf(turn, () => false);
    void registry.snapshot(model).then(
      (seen) => violations.push(...instantViolations(seen).map((violation) => `a reader: ${violation}`)),
      (error: unknown) => {
        if (!(hasCode(error, "MODEL_NOT_FOUND") && mayBeDeleted)) violations.push(`a reader met ${String(error)}`);
      },
    );
  }

  const starts = [
    ...operations.map((operation) => () => begin(operation)),
    ...Array.from({ length: readers }, () => read),
  ];
  while (starts.length > 0 || waiting.length > 0) {
    // Some are requested when others are on their way already.
    if (starts.length > 0 && (waiting.length === 0 || random() < 0.3)) {
      starts.splice(Math.floor(random() * starts.length), 1)[0]!();
    } else {
      const [one] = waiting.splice(Math.floor(random() * waiting.length), 1);
      if (random() < dies) one!.die();
      else one!.go();
    }
    await new Promise(setImmediate);
  }

  // The sweep finds any of what the dead have left, not always the oldest.
  const sweep = aftermath.outboxOf(alone.repository, () => Promise.resolve());
  for (let left = leftOf(table); left.length > 0; left = leftOf(table))
    await sweep.sweep(model, left[Math.floor(random() * left.length)]!);

  const all = new Map([...prepared, ...operations].map((operation) => [operation.id, operation]));
  const end = now()!;
  const replayed = replay(end, all);
  violations.push(...aftermath.wrongAtTheEnd(end.model, leftOf(table).length));
  violations.push(...replayed.violations, ...table.overwritten.map((key) => `${key} was written twice`));
  for (const each of replies) {
    const reason = unjust(each, replayed);
    if (reason !== undefined) violations.push(`${each.operation.id} ${JSON.stringify(each)}: ${reason}`);
  }
  return { violations, replies, deaths, entries: end.history.length - before, repeats: aftermath.repeats() };
}

async function answerOf(work: Promise<void>): Promise<string> {
  try {
    await work;
    return "done";
  } catch (error) {
    if (error instanceof RingmasterError) return error.code;
    return String(error);
  }
}

/** Returns why a reply is right at no time between request and reply; `undefined` if it is right. */
function unjust({ operation, requested, answered, answer }: Reply, { states, revisions }: Replay): string | undefined {
  const revision = revisions.get(operation.id);
  if (answer === "died") return undefined;
  const between = states.slice(requested, answered + 1);
  const outcomes = between.map((state) => step(state, operation));
  if (answer === "done") {
    if (revision !== undefined) return revision > requested && revision <= answered ? undefined : `done at ${revision}`;
    return outcomes.some(({ kind }) => kind === "nothing") ? undefined : "said to be done, and history has nothing";
  }
  if (revision !== undefined) return `refused, and done at ${revision}`;
  if (answer === "REGISTRY_BUSY") return undefined;
  if (answer === "ROLLBACK_OVERTAKEN")
    return new Set(between.map(({ production }) => production)).size > 1 ? undefined : "no other change preceded it";
  return outcomes.some((outcome) => outcome.kind === "refused" && outcome.code === answer)
    ? undefined
    : "it was never to be refused";
}

function leftOf(table: MemoryTable): readonly number[] {
  return table.items().flatMap(({ sk }) => (sk.startsWith("EVENT#") ? Number(sk.slice("EVENT#".length)) : []));
}

/** The table's rows at this instant, without the code that reads them. */
function snapshotOf(table: MemoryTable): ModelSnapshot | undefined {
  const records = <T>(prefix: string) =>
    table
      .items()
      .filter(({ pk, sk }) => pk === `TEAM#default#MODEL#${model}` && sk.startsWith(prefix))
      .map(({ record }) => record as T);
  const [head] = records<Model>("MODEL");
  return (
    head && { model: head, versions: records<ModelVersion>("VERSION#"), history: records<HistoryEntry>("HISTORY#") }
  );
}
