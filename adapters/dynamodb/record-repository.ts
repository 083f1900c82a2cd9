import { inRounds } from "../../core/backoff";
import { BoundedMap } from "../../core/bounded-map";
import { runNotFound } from "../../core/runs/errors";
import { runBusy, runFieldFixed } from "../../core/tracking/records/errors";
import { type KeptRecord, keptOf } from "../../core/tracking/records/training-record";
import { type CreatedRun, canBeRunId, type RunRecords, type RunTransition } from "../../core/tracking/run-records";
import type { RunIdentity, RunRecord } from "../../core/tracking/shapes";
import type { LogHead } from "../metric-log/log-state";
import { maxIdLength, pauseBeforeRound } from "./client";
import type { GroupCommit } from "./group-commit";
import { firstHead } from "./metric-log";
import { headItem } from "./metric-rows";
import {
  childRow,
  childrenKey,
  experimentRunsKey,
  type LoggedRecord,
  newRecordRow,
  packRecord,
  readRecords,
  recordOfRows,
} from "./record-rows";
import type { AllRunChanges } from "./run-changes";
import { type RunIdentities, recordKey } from "./run-identities";
import { absent, ex, exists, type Table } from "./table";

/** The number of recorded instance types that a process remembers, over all runs. */
const maxRemembered = 100_000;

interface RecordWritePorts {
  readonly changes: Pick<AllRunChanges, "mark" | "row" | "wrote">;
  readonly creations: GroupCommit;
  readonly metrics: Table;
}

/** Writes records of all teams' runs. Every write marks its run as changed. */
class RecordWrites {
  private readonly instanceTypes = new BoundedMap<string, true>(maxRemembered);

  constructor(
    private readonly table: Table,
    private readonly ports: RecordWritePorts,
  ) {}

  /**
   * Writes a logged run, its mark, its parent's row and the head of its metrics, or nothing. Returns `false` if its id
   * is taken.
   * @param metricsHead absent if the run has no points yet, or they do not fit in a head
   */
  async insert(
    record: RunRecord,
    requestDigest: string | undefined,
    metricsHead: LogHead | undefined,
  ): Promise<boolean> {
    const { runId, parentRunId, startedAt } = record;
    const { table, ports } = this;
    const mark = ports.changes.row(record);
    const created = await ports.creations.write({
      key: runId,
      bytes: JSON.stringify(record).length,
      puts: [
        table.putting(newRecordRow(record, loggedPart(record), startedAt, requestDigest), absent).Put,
        table.putting(mark).Put,
        ...(parentRunId === undefined ? [] : [table.putting(childRow(record, parentRunId)).Put]),
        ...(metricsHead ? [ports.metrics.putting(headItem(runId, metricsHead), absent).Put] : []),
      ],
    });
    if (created) await ports.changes.wrote(record, mark);
    return created;
  }

  /** Returns `false` if another process has changed it. @throws RUN_FIELD_FIXED, RUN_RECORD_TOO_LARGE */
  async update(before: RunRecord, after: RunRecord): Promise<boolean> {
    const { runId, revision } = before;
    const { parentRunId } = after;
    const stored = packRecord(runId, storedPart(before, after));
    if (parentRunId !== undefined && parentRunId !== before.parentRunId) {
      await this.table.put(childRow(before, parentRunId));
    }
    const content =
      "packed" in stored ? ex`packed = ${stored.packed} REMOVE #record` : ex`#record = ${stored.record} REMOVE packed`;
    const change = ex`SET revision = ${revision + 1}, ${content}`;
    return this.marked(before, () => this.table.update(recordKey(runId), change, ex`revision = ${revision}`));
  }

  async addInstanceType(run: RunIdentity, instanceType: string): Promise<void> {
    const key = `${run.runId}/${instanceType}`;
    if (this.instanceTypes.has(key)) return;
    const added = ex`ADD instanceTypes ${new Set([instanceType])}`;
    await this.marked(run, () => this.table.update(recordKey(run.runId), added, exists));
    this.instanceTypes.set(key, true);
  }

  /** Marks before and after a write: a reader in between sees the run as changed, a later one the second mark. */
  private async marked<T>(run: RunIdentity, write: () => Promise<T>): Promise<T> {
    const [, written] = await Promise.all([this.ports.changes.mark(run), write()]);
    await this.ports.changes.mark(run);
    return written;
  }
}

/** Returns the stored part of a changed record. @throws RUN_FIELD_FIXED */
function storedPart(before: RunRecord, after: RunRecord): LoggedRecord | KeptRecord {
  if (before.source !== "training") return loggedPart(after);
  const decided = keptOf(before, after);
  if ("fixedField" in decided) throw runFieldFixed(before.runId, decided.fixedField);
  return decided.kept;
}

function loggedPart(record: RunRecord): LoggedRecord {
  const {
    runId: _,
    team: __,
    experimentId: ___,
    source: ____,
    revision: _____,
    unreadable: ______,
    ...logged
  } = record;
  return logged;
}

/** The maximum number of rounds. A round fails only if another change succeeded in the meantime. */
const rounds = 32;
/** The number of complete records in the cache. Large ones are not cached. */
const maxLatest = 1_000;
const maxCachedParams = 200;

interface RunRecordDependencies extends RecordWritePorts {
  readonly identities: RunIdentities;
}

interface AllRunRecords {
  addInstanceType(run: RunIdentity, instanceType: string): Promise<void>;
  of(team: string): RunRecords;
}

/** See docs/access-patterns.md, "Records of runs". Use one per process, because it caches identities. */
export function createRunRecords(table: Table, dependencies: RunRecordDependencies): AllRunRecords {
  const writes = new RecordWrites(table, dependencies);
  const latest = new LatestRecords();
  return {
    addInstanceType: (run, instanceType) => writes.addInstanceType(run, instanceType),
    of(team) {
      const reads = createReads(table, team, dependencies.identities);
      return { ...reads, ...createChanges(table, team, reads, writes, latest, dependencies) };
    },
  };
}

type Reads = Pick<RunRecords, "identify" | "find" | "findMany" | "list" | "page" | "children">;

function createReads(table: Table, team: string, identities: RunIdentities): Reads {
  async function identify(runId: string): Promise<RunIdentity | undefined> {
    if (runId.length > maxIdLength) return undefined;
    const identity = await identities.identify(runId);
    return identity?.team === team ? identity : undefined;
  }

  /** Caches the identities of listed runs, because the caller usually reads their metrics next. */
  function rememberAll(records: readonly RunRecord[]): void {
    for (const { runId, experimentId, source } of records) identities.remember({ runId, team, experimentId, source });
  }

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

  return {
    identify,

    async find(runId) {
      return (await identify(runId)) && (await readRecords(table, [runId]))[0];
    },

    async findMany(runIds) {
      const unique = [...new Set(runIds)].filter(canBeRunId);
      const records = (await readRecords(table, unique)).filter((record) => record.team === team);
      rememberAll(records);
      return records;
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
      const rows = await table.all(ex`pk = ${childrenKey(team, runId)}`);
      return rows.map(({ sk }) => sk as string);
    },
  };
}

function createChanges(
  table: Table,
  team: string,
  reads: Reads,
  writes: RecordWrites,
  latest: LatestRecords,
  { identities, changes }: RunRecordDependencies,
): Pick<RunRecords, "create" | "change"> {
  async function mustFind(runId: string): Promise<RunRecord> {
    const record = await reads.find(runId);
    if (!record) throw runNotFound(runId);
    return record;
  }

  async function existing(runId: string): Promise<CreatedRun> {
    const row = await table.get(recordKey(runId));
    if (row?.["team"] !== team) throw new Error(`the id ${runId} is taken by another team's run: send it again`);
    const requestDigest = row["requestDigest"] as string | undefined;
    // The process that created it may have died before it wrote the points.
    return { created: false, record: await mustFind(runId), pointsStored: false, requestDigest };
  }

  /** Writes a record. Returns `undefined` if another process has changed it in the meantime. */
  async function update(before: RunRecord, after: RunRecord): Promise<RunRecord | undefined> {
    if (!(await writes.update(before, after))) return undefined;
    const record = { ...after, revision: before.revision + 1 };
    latest.note(record);
    return record;
  }

  /** Changes a cached record without a read. It may be out of date, so it never refuses a change or skips one. */
  async function changeLatest(runId: string, transition: RunTransition): Promise<RunRecord | undefined> {
    const before = latest.take(runId, team);
    if (!before) return undefined;
    let after: RunRecord | undefined;
    try {
      after = transition(before);
    } catch {
      return undefined;
    }
    return after && (await update(before, after));
  }

  return {
    async create(draft, { requestDigest, firstPoints } = {}) {
      const { runId, experimentId, source } = draft;
      if (draft.team !== team) throw new Error(`run ${runId} is of team ${draft.team}, not of ${team}`);
      const head = firstPoints && firstHead(firstPoints.series, firstPoints.receipt);
      if (!(await writes.insert(draft, requestDigest, head))) return existing(runId);
      identities.remember({ runId, team, experimentId, source });
      const record = { ...draft, revision: 1 };
      latest.note(record);
      return { created: true, record, pointsStored: head !== undefined, requestDigest };
    },

    async change(runId, transition) {
      const quick = await changeLatest(runId, transition);
      if (quick) return quick;
      const retry = { rounds, pause: pauseBeforeRound, busy: () => runBusy(runId, rounds) };
      return inRounds(retry, async () => {
        const before = await mustFind(runId);
        const after = transition(before);
        if (after !== undefined) return update(before, after);
        // The process that wrote it may have died before it wrote the mark.
        await changes.mark(before);
        return before;
      });
    },
  };
}

/** The logged runs as this process wrote them last. A client often sends several changes of one run in a row. */
class LatestRecords {
  private readonly records = new BoundedMap<string, RunRecord>(maxLatest);

  note(record: RunRecord): void {
    if (record.source !== "logged" || Object.keys(record.params).length > maxCachedParams) return;
    this.records.set(record.runId, record);
  }

  take(runId: string, team: string): RunRecord | undefined {
    const record = this.records.get(runId);
    if (record?.team !== team) return undefined;
    this.records.delete(runId);
    return record;
  }
}
