import { inRounds } from "../../core/backoff";
import { BoundedMap } from "../../core/bounded-map";
import { RunNotFoundError } from "../../core/runs/errors";
import { RunBusyError, RunFieldFixedError } from "../../core/tracking/records/errors";
import { type FirstRecord, type KeptRecord, keptOf } from "../../core/tracking/records/training-record";
import { canBeRunId, type RunRecords, type RunTransition } from "../../core/tracking/run-records";
import type { RunIdentity, RunRecord } from "../../core/tracking/shapes";
import { maxIdLength, pauseBeforeRound } from "./client";
import { absent, ex, exists } from "./expression";
import type { GroupCommit } from "./group-commit";
import { firstHead } from "./metric-first-head";
import { readRecords, recordOfRows } from "./record-reads";
import { experimentRunsKey, type LoggedRecord, newRecordRow, packRecord } from "./record-rows";
import type { AllRunChanges } from "./run-changes";
import { type RunIdentities, recordKey } from "./run-identities";
import type { Table } from "./table";

/** The maximum number of rounds. A round fails only if another change succeeded in the meantime. */
const rounds = 32;
const retry = { rounds, pause: pauseBeforeRound };
/** The number of recorded instance types that a process remembers, over all runs. */
const maxRemembered = 100_000;
/** The number of complete records in the cache. Large ones are not cached. */
const maxLatest = 1_000;
const maxCachedParams = 200;

export interface RunRecordDependencies {
  readonly identities: RunIdentities;
  readonly changes: Pick<AllRunChanges, "mark" | "row" | "wrote">;
  readonly creations: GroupCommit;
  readonly metrics: Table;
  /**
   * Returns the first record of a training run that has none because it is older than records. Returns `undefined` if
   * the run does not exist.
   */
  readonly older: (runId: string) => Promise<(FirstRecord & { readonly createdAt: string }) | undefined>;
}

export interface AllRunRecords {
  /** Records the instance type of a training run's machine. Idempotent. */
  addInstanceType(run: RunIdentity, instanceType: string): Promise<void>;
  of(team: string): RunRecords;
}

/**
 * Stores the records of runs in the Catalog table (docs/access-patterns.md, "Records of runs"). Use one per process,
 * because it caches identities.
 */
export function createRunRecords(table: Table, dependencies: RunRecordDependencies): AllRunRecords {
  const { identify, remember } = dependencies.identities;
  const instanceTypes = new BoundedMap<string, true>(maxRemembered);
  /** The logged runs as this process wrote them last. A client often sends several changes of one run in a row. */
  const latest = new BoundedMap<string, RunRecord>(maxLatest);

  function rememberLatest(record: RunRecord): void {
    if (record.source !== "logged" || Object.keys(record.params).length > maxCachedParams) return;
    latest.set(record.runId, record);
  }

  async function adopt(runId: string): Promise<RunIdentity | undefined> {
    const first = canBeRunId(runId) ? await dependencies.older(runId) : undefined;
    if (!first) return undefined;
    const row = newRecordRow(first.identity, first.kept, Date.parse(first.createdAt));
    await marked(first.identity, () => table.put(row, absent));
    remember(first.identity);
    return first.identity;
  }

  async function addInstanceType(identity: RunIdentity, instanceType: string): Promise<void> {
    const { runId } = identity;
    const known = `${runId}/${instanceType}`;
    if (instanceTypes.has(known)) return;
    const added = ex`ADD instanceTypes ${new Set([instanceType])}`;
    await marked(identity, () => table.update(recordKey(runId), added, exists));
    instanceTypes.set(known, true);
  }

  /**
   * Marks a run as changed before and after a write. A reader between the two treats the run as changed for
   * `clockSkewMs`, and a later reader finds the second mark.
   */
  async function marked<T>(identity: RunIdentity, write: () => Promise<T>): Promise<T> {
    const [, written] = await Promise.all([dependencies.changes.mark(identity), write()]);
    await dependencies.changes.mark(identity);
    return written;
  }

  function of(team: string): RunRecords {
    async function mine(runId: string): Promise<RunIdentity | undefined> {
      if (runId.length > maxIdLength) return undefined;
      const identity = (await identify(runId)) ?? (await adopt(runId));
      return identity?.team === team ? identity : undefined;
    }

    /** Caches the identities of listed runs, because the caller usually reads their metrics next. */
    function rememberAll(records: readonly RunRecord[]): void {
      for (const { runId, experimentId, source } of records) remember({ runId, team, experimentId, source });
    }

    async function findMany(runIds: readonly string[]): Promise<readonly RunRecord[]> {
      const unique = [...new Set(runIds)].filter(canBeRunId);
      const records = (await readRecords(table, unique)).filter((record) => record.team === team);
      rememberAll(records);
      if (records.length === unique.length) return records;
      const there = new Set(records.map(({ runId }) => runId));
      const others = unique.filter((runId) => !there.has(runId));
      const adopted = await Promise.all(others.map(async (runId) => ((await mine(runId)) ? [runId] : [])));
      return [...records, ...(await readRecords(table, adopted.flat()))];
    }

    async function find(runId: string): Promise<RunRecord | undefined> {
      return (await mine(runId)) && (await readRecords(table, [runId]))[0];
    }

    async function nameChild(parentRunId: string | undefined, runId: string): Promise<void> {
      if (parentRunId !== undefined) await table.put(childRow(parentRunId, runId));
    }
    const childRow = (parentRunId: string, runId: string) => ({ pk: childrenKey(parentRunId), sk: runId });
    const childrenKey = (parentRunId: string): string => `TEAM#${team}#CHILDREN#${parentRunId}`;

    /** Writes a record under the condition that nobody has changed it in the meantime. */
    async function write(before: RunRecord, after: RunRecord): Promise<boolean> {
      const { runId } = before;
      const packed = packRecord(runId, storedOf(before, after));
      await nameChild(after.parentRunId === before.parentRunId ? undefined : after.parentRunId, runId);
      const content =
        "packed" in packed
          ? ex`packed = ${packed.packed} REMOVE #record`
          : ex`#record = ${packed.record} REMOVE packed`;
      const change = ex`SET revision = ${before.revision + 1}, ${content}`;
      return marked(before, () => table.update(recordKey(runId), change, ex`revision = ${before.revision}`));
    }

    /**
     * Changes a run from its cached record, which saves the read if no other process has changed it. The cached record
     * may be out of date, so it is never used to refuse a change or to skip one.
     */
    async function changeLatest(runId: string, transition: RunTransition): Promise<RunRecord | undefined> {
      const before = latest.get(runId);
      if (before?.team !== team) return undefined;
      latest.delete(runId);
      let after: RunRecord | undefined;
      try {
        after = transition(before);
      } catch {
        return undefined;
      }
      return after && (await written(before, after));
    }

    /** Writes a record. Returns `undefined` if another process has changed it in the meantime. */
    async function written(before: RunRecord, after: RunRecord): Promise<RunRecord | undefined> {
      if (!(await write(before, after))) return undefined;
      const record = { ...after, revision: before.revision + 1 };
      rememberLatest(record);
      return record;
    }

    return {
      identify: mine,
      find,
      findMany,

      async create(record, { requestDigest, firstPoints } = {}) {
        if (record.team !== team) throw new Error(`run ${record.runId} is of team ${record.team}, not of ${team}`);
        const { runId, experimentId, source, parentRunId, startedAt } = record;
        const identity: RunIdentity = { runId, team, experimentId, source };
        const head = firstPoints && firstHead(runId, firstPoints.series, firstPoints.receipt);
        const row = newRecordRow(identity, loggedPart(record), startedAt, requestDigest);
        const mark = dependencies.changes.row(identity);
        const created = await dependencies.creations.write({
          key: runId,
          bytes: JSON.stringify(record).length,
          puts: [
            table.putting(row, absent).Put,
            table.putting(mark).Put,
            ...(parentRunId === undefined ? [] : [table.putting(childRow(parentRunId, runId)).Put]),
            ...(head ? [dependencies.metrics.putting(head, absent).Put] : []),
          ],
        });
        if (created) {
          remember(identity);
          await dependencies.changes.wrote(identity, mark);
          rememberLatest({ ...record, revision: 1 });
          const digest = requestDigest === undefined ? {} : { requestDigest };
          return { created, record: { ...record, revision: 1 }, pointsStored: head !== undefined, ...digest };
        }
        const there = await table.get(recordKey(runId));
        if (there?.["team"] !== team) throw new Error(`the id ${runId} is taken by another team's run: send it again`);
        const known = there["requestDigest"] as string | undefined;
        // The process that created it may have died before it wrote the points.
        const answer = { created, record: await must(find(runId), runId), pointsStored: false };
        return known === undefined ? answer : { ...answer, requestDigest: known };
      },

      async change(runId, transition) {
        const quick = await changeLatest(runId, transition);
        if (quick) return quick;
        return inRounds({ ...retry, busy: () => new RunBusyError(runId, rounds) }, async () => {
          const before = await must(find(runId), runId);
          const after = transition(before);
          if (after === undefined) {
            // The process that wrote it may have died before it wrote the mark.
            await dependencies.changes.mark(before);
            return before;
          }
          return written(before, after);
        });
      },

      async *list(experimentId) {
        let nextToken: string | undefined;
        do {
          const page = await pageOf(experimentId, undefined, nextToken);
          nextToken = page.nextToken;
          yield page.runs;
        } while (nextToken !== undefined);
      },

      page: (experimentId, { limit, nextToken }) => pageOf(experimentId, limit, nextToken),

      async children(runId) {
        const rows = await table.all(ex`pk = ${childrenKey(runId)}`);
        return rows.map(({ sk }) => sk as string);
      },
    };

    async function pageOf(experimentId: string, limit: number | undefined, token: string | undefined) {
      const { items, nextToken } = await table.page(
        ex`gsi1pk = ${experimentRunsKey(team, experimentId)}`,
        { index: "gsi1", descending: true, limit, nextToken: token },
        (item) => item,
      );
      const runs = await recordOfRows(table, items);
      rememberAll(runs);
      return { runs, nextToken };
    }
  }

  return { addInstanceType, of };
}

async function must(found: Promise<RunRecord | undefined>, runId: string): Promise<RunRecord> {
  const record = await found;
  if (!record) throw new RunNotFoundError(runId);
  return record;
}

/** Returns the stored part of a changed record. @throws RunFieldFixedError */
function storedOf(before: RunRecord, after: RunRecord): LoggedRecord | KeptRecord {
  if (before.source === "training") {
    const decided = keptOf(before, after);
    if ("fixedField" in decided) throw new RunFieldFixedError(before.runId, decided.fixedField);
    return decided.kept;
  }
  return loggedPart(after);
}

function loggedPart(record: RunRecord): LoggedRecord {
  const { runId: _, team: __, experimentId: ___, source: ____, revision: _____, ...logged } = record;
  return logged;
}
