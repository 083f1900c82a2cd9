import { isOpen, type RunStatus } from "../../runs/run-states";
import type { Experiment, RunRecord } from "../shapes";
import { ParamConflictError, runDeleted } from "./errors";

type Texts = Readonly<Record<string, string>>;

export function assertActive(record: RunRecord): void {
  if (record.lifecycle === "deleted") throw runDeleted(record.runId);
}

/**
 * Adds params. A repetition of the same value changes nothing. Returns `undefined` if no param is new.
 * @throws ParamConflictError if a param has another value, RUN_DELETED
 */
export function withParams(record: RunRecord, params: Texts): RunRecord | undefined {
  assertActive(record);
  const repeats = Object.entries(params).filter(([key]) => Object.hasOwn(record.params, key));
  const conflicts = repeats
    .filter(([key, given]) => record.params[key] !== given)
    .map(([key, given]) => ({ key, known: record.params[key] as string, given }));
  if (conflicts.length > 0) throw new ParamConflictError(record.runId, conflicts);
  if (repeats.length === Object.keys(params).length) return undefined;
  return { ...record, params: { ...record.params, ...params } };
}

export interface RunEdit {
  readonly name?: string;
  readonly notes?: string;
  /** `null` removes a tag. */
  readonly tags?: Readonly<Record<string, string | null>>;
  readonly status?: RunStatus;
  /** Milliseconds since the epoch. Default for a run that ends: now. */
  readonly endedAt?: number;
}

/** Applies an edit; returns `undefined` if nothing changes. @throws RUN_DELETED */
export function withEdit(record: RunRecord, edit: RunEdit, now: number): RunRecord | undefined {
  assertActive(record);
  const after = { ...record, ...endOf(record, edit, now) };
  if (edit.name !== undefined) after.name = edit.name;
  if (edit.notes !== undefined) after.notes = edit.notes;
  if (edit.tags !== undefined) after.tags = withTags(record.tags, edit.tags);
  return sameJson(record, after) ? undefined : after;
}

export function withTags(tags: Texts, changes: Readonly<Record<string, string | null>>): Texts {
  const gone = new Set(Object.keys(changes).filter((key) => changes[key] === null));
  const kept = Object.entries(tags).filter(([key]) => !gone.has(key));
  const set = Object.entries(changes).filter((entry): entry is [string, string] => entry[1] !== null);
  return Object.fromEntries([...kept, ...set]);
}

/** Deletes or restores a run; returns `undefined` if nothing changes. */
export function withLifecycle(record: RunRecord, lifecycle: RunRecord["lifecycle"], at: string): RunRecord | undefined {
  if (record.lifecycle === lifecycle) return undefined;
  const { deletedAt: _, ...rest } = record;
  return lifecycle === "deleted" ? { ...rest, lifecycle, deletedAt: at } : { ...rest, lifecycle };
}

/** A run that ends again keeps its first end unless the edit has another one. A run that continues has none. */
function endOf(record: RunRecord, { status, endedAt }: RunEdit, now: number): Partial<RunRecord> {
  const after = status ?? record.status;
  if (endedAt !== undefined) return { status: after, endedAt };
  if (status === undefined) return {};
  return { status, endedAt: isOpen(status) ? undefined : (record.endedAt ?? now) };
}

function sameJson(a: RunRecord, b: RunRecord): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

export interface ExperimentEdit {
  readonly name?: string;
  /** `null` removes a tag. */
  readonly tags?: Readonly<Record<string, string | null>>;
  readonly lifecycle?: Experiment["lifecycle"];
}

export function withExperimentEdit(before: Experiment, edit: ExperimentEdit, at: string): Experiment | undefined {
  const { name = before.name, lifecycle = before.lifecycle } = edit;
  const tags = edit.tags === undefined ? before.tags : withTags(before.tags, edit.tags);
  const after = { ...before, name, lifecycle, tags };
  return JSON.stringify(after) === JSON.stringify(before) ? undefined : { ...after, updatedAt: at };
}
