import { sha256 } from "../digest";
import { eachLimited } from "../each-limited";
import { teamsPrefix } from "../object-keys";
import type { Clock } from "../ports";
import { DigestSet, digestsIn } from "./digests";
import {
  type CycleState,
  graceMs,
  kindOf,
  type ListedObject,
  type Phase,
  type ReclamationMemory,
  type ReclamationObjects,
  type ReclamationRows,
  type SavedCycle,
  teamOf,
  type Usage,
} from "./ports";

const readsAtOnce = 16;
const digestLength = 64;
const idLength = 32;
const saveEveryMs = 30_000;
/** The references of more objects are read again in each cycle. */
const maxKnown = 1_000_000;
/** An object with more references is read again in each cycle. */
const maxReferences = 1_000;
/** Deletions are collected, because a store reads a folder again after it has changed. */
const erasedAtOnce = 10_000;
/** More unreferenced objects wait for the next cycle. */
const maxUnreferenced = 1_000_000;

export interface ReclaimDependencies {
  readonly objects: ReclamationObjects;
  readonly rows: ReclamationRows;
  readonly memory: ReclamationMemory;
  readonly clock: Clock;
}

export interface ReclaimOptions {
  /** Time to stop, in milliseconds since the epoch. The next call continues. */
  readonly until: number;
  /** Time between the starts of two cycles. A call before does nothing. */
  readonly everyMs: number;
  readonly dryRun?: boolean;
  /** Awaited after each part of the work, with its number of requests. It may wait. */
  readonly pace?: (requests: number) => Promise<void>;
}

/**
 * Deletes content that nothing refers to (ADR 059). A cycle marks every digest that occurs in a row, in a document or in
 * marked content, then lists all objects. It deletes an object only if its digest was not marked in two cycles, and if
 * the object is older than `graceMs` at the start of the cycle.
 *
 * A call works until a time and saves its position, so that the next one continues there. A process may die at any
 * point: the work since the last save is repeated. Of two calls at the same time, one stops at its next save.
 *
 * @returns the state of the cycle
 */
export async function reclaim(dependencies: ReclaimDependencies, options: ReclaimOptions): Promise<CycleState> {
  const { memory, clock } = dependencies;
  const saved = (await memory.load()) ?? newCycle(clock.now());
  const { state } = saved;
  if (state.phase === "done" && clock.now() - state.startedAt < options.everyMs) return state;
  const work = new Work(state.phase === "done" ? newCycle(clock.now(), saved) : saved);
  let savedAt = clock.now();
  for (;;) {
    const phase = work.state.phase;
    const requests = await step(work, dependencies, options);
    await options.pace?.(requests);
    const isOver = work.state.phase === "done" || clock.now() >= options.until;
    const isDue = isOver || work.state.phase !== phase || clock.now() - savedAt >= saveEveryMs;
    if (isDue || work.condemned.length >= erasedAtOnce) await eraseCondemned(work, dependencies);
    if (isDue) {
      work.change({ revision: work.state.revision + 1 });
      if (!(await memory.save(work)) || isOver) return work.state;
      savedAt = clock.now();
    }
  }
}

/** Deletes what the sweep has found. It is done before a save, so that a saved position has nothing to delete before it. */
async function eraseCondemned(work: Work, { objects }: ReclaimDependencies): Promise<void> {
  if (work.condemned.length === 0) return;
  await objects.erase(work.condemned);
  work.condemned = [];
}

const nothing: Usage = { objects: 0, bytes: 0 };

function newCycle(startedAt: number, last?: SavedCycle): SavedCycle {
  const { cycle: number = 0, revision = 0, references = 0 } = last?.state ?? {};
  const cycle = number + 1;
  return {
    state: {
      ...{ revision, cycle, phase: "rows", position: undefined, startedAt, references: 0 },
      ...{ unreferenced: nothing, deleted: nothing, teams: {} },
    },
    marks: DigestSet.forCount(references * 2, cycle).bytes,
    ...{ known: last?.used ?? new Map(), used: new Map(), before: last?.now ?? new Set(), now: new Set() },
  };
}

class Work implements SavedCycle {
  state: CycleState;
  readonly known: ReadonlyMap<string, string>;
  readonly used: Map<string, string>;
  readonly before: ReadonlySet<string>;
  readonly now: Set<string>;
  condemned: readonly ListedObject[] = [];
  private readonly marked: DigestSet;

  constructor(saved: SavedCycle) {
    this.state = saved.state;
    this.marked = DigestSet.of(saved.marks.slice(), saved.state.cycle);
    this.known = saved.known;
    this.used = new Map(saved.used);
    this.before = saved.before;
    this.now = new Set(saved.now);
  }

  get marks(): Uint8Array {
    return this.marked.bytes;
  }

  change(state: Partial<CycleState>): void {
    this.state = { ...this.state, ...state };
  }

  enter(phase: Phase): void {
    this.change({ phase, position: undefined });
  }

  isMarked(digest: string): boolean {
    return this.marked.has(digest);
  }

  mark(digest: string): void {
    this.marked.add(digest);
    this.change({ references: this.state.references + 1 });
  }

  /**
   * Marks the references of an object that does not change, and returns them. Returns `undefined` if they are not known
   * from an earlier reading.
   */
  markKnown(id: string): readonly string[] | undefined {
    const text = this.used.get(id) ?? this.known.get(id);
    if (text === undefined) return undefined;
    const references = Array.from({ length: text.length / digestLength }, (_, i) =>
      text.slice(i * digestLength, (i + 1) * digestLength),
    );
    for (const digest of references) this.mark(digest);
    this.remember(id, text);
    return references;
  }

  /** Marks the references of an object, remembers them, and returns them. */
  async markAll(id: string, text: AsyncIterable<Uint8Array>): Promise<readonly string[]> {
    const references = new Set<string>();
    for await (const digest of digestsIn(text)) {
      this.mark(digest);
      references.add(digest);
    }
    if (references.size <= maxReferences) this.remember(id, [...references].join(""));
    return [...references];
  }

  private remember(id: string, references: string): void {
    if (this.used.size < maxKnown) this.used.set(id, references);
  }
}

/** Does one part of the work. Returns the number of its requests. */
async function step(
  work: Work,
  dependencies: ReclaimDependencies,
  options: Pick<ReclaimOptions, "dryRun">,
): Promise<number> {
  const { objects, rows } = dependencies;
  if (work.state.phase === "rows") {
    const { text, next } = await rows.scan(work.state.position);
    for await (const digest of digestsIn([text])) work.mark(digest);
    if (next === undefined) work.enter("documents");
    else work.change({ position: next });
    return 1;
  }
  const page = await objects.list(work.state.position ?? "");
  const last = page.at(-1);
  let requests = 1;
  if (work.state.phase === "documents") requests += await markDocuments(work, objects, page);
  else if (work.state.phase === "contents") requests += await markContents(work, objects, page);
  else requests += await sweep(work, objects, page, options.dryRun === true);
  if (last !== undefined) work.change({ position: positionAfter(last.key, work.state.phase) });
  else endPass(work, dependencies.clock);
  return requests;
}

/** Returns the position of the next page. It passes over the keys that a phase does not need. */
function positionAfter(key: string, phase: Phase): string {
  const team = teamOf(key);
  if (team === undefined || phase === "sweep") return key;
  const contents = `${teamsPrefix}${team}/cas/sha256/`;
  // No digest begins with "g", and no key of the team follows "0", which follows "/".
  if (phase === "documents") return key.startsWith(contents) ? `${contents}g` : key;
  return key > contents && !key.startsWith(contents) ? `${teamsPrefix}${team}0` : key;
}

function endPass(work: Work, clock: Clock): void {
  const { phase } = work.state;
  if (phase === "documents") work.enter("contents");
  else if (phase === "contents") work.enter("sweep");
  else work.change({ phase: "done", position: undefined, finishedAt: clock.now() });
}

async function markDocuments(work: Work, objects: ReclamationObjects, page: readonly ListedObject[]): Promise<number> {
  // A version does not change.
  const unread = page
    .filter(({ key }) => kindOf(key).kind === "document")
    .map(({ key, version }) => ({ key, id: sha256(`${key} ${version}`).slice(0, idLength) }))
    .filter(({ id }) => work.markKnown(id) === undefined);
  await eachLimited(unread, readsAtOnce, async ({ key, id }) => {
    const text = await objects.read(key);
    if (text) await work.markAll(id, text);
  });
  return unread.length;
}

/** Marks the references of marked contents, and those of the contents that they refer to. Returns the number of reads. */
async function markContents(work: Work, objects: ReclamationObjects, page: readonly ListedObject[]): Promise<number> {
  let reads = 0;
  // A shorter object has no room for a reference.
  let next = page
    .filter(({ key, bytes }) => {
      const kind = kindOf(key);
      return kind.kind === "content" && bytes >= digestLength && work.isMarked(kind.digest);
    })
    .map(({ key }) => key);
  while (next.length > 0) {
    const keys = next.filter((key) => !work.used.has(idOf(key)));
    next = [];
    await eachLimited(keys, readsAtOnce, async (key) => {
      const id = idOf(key);
      let references = work.markKnown(id);
      if (references === undefined) {
        reads += 1;
        const text = await objects.read(key);
        references = text ? await work.markAll(id, ofJson(text)) : [];
      }
      // They may be before this page. A team's content refers to content of the same team only.
      const folder = key.slice(0, -digestLength);
      next.push(...references.map((digest) => `${folder}${digest}`));
    });
  }
  return reads;
}

/** Returns the id under which the references of a content are known. */
const idOf = (key: string): string => key.slice(-digestLength).slice(0, idLength);

/** Yields the chunks of JSON, and nothing of other content: only JSON refers to content. */
async function* ofJson(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let first = true;
  for await (const chunk of chunks) {
    if (first && !/^\s*[[{]/.test(Buffer.from(chunk.subarray(0, 64)).toString("latin1"))) return;
    first = false;
    yield chunk;
  }
}

async function sweep(
  work: Work,
  objects: ReclamationObjects,
  page: readonly ListedObject[],
  dryRun: boolean,
): Promise<number> {
  const olderThan = work.state.startedAt - graceMs;
  const unreferenced: ListedObject[] = [];
  let requests = 0;
  for (const object of page) {
    if (object.modified >= olderThan) continue;
    const kind = kindOf(object.key);
    if (kind.kind === "result-file") requests += 1;
    if (
      ((kind.kind === "content" || kind.kind === "tensors") && !work.isMarked(kind.digest)) ||
      (kind.kind === "result-file" && (await objects.has(kind.contentKey)))
    ) {
      unreferenced.push(object);
    }
  }
  const deleted = dryRun ? [] : unreferenced.filter(({ key }) => work.before.has(key));
  work.condemned = [...work.condemned, ...deleted];
  if (deleted.length > 0) requests += 1;
  const gone = new Set(deleted);
  const left = unreferenced.filter((object) => !gone.has(object));
  for (const { key } of left) if (work.now.size < maxUnreferenced) work.now.add(key);
  const teams = { ...work.state.teams };
  for (const object of page) {
    const team = gone.has(object) ? undefined : teamOf(object.key);
    if (team !== undefined) teams[team] = sum(teams[team] ?? nothing, [object]);
  }
  work.change({
    deleted: sum(work.state.deleted, deleted),
    unreferenced: sum(work.state.unreferenced, left),
    teams,
  });
  return requests;
}

function sum(usage: Usage, objects: readonly ListedObject[]): Usage {
  return {
    objects: usage.objects + objects.length,
    bytes: objects.reduce((bytes, object) => bytes + object.bytes, usage.bytes),
  };
}
