import { inRounds } from "../../core/backoff";
import { BoundedMap } from "../../core/bounded-map";
import { runNotFound } from "../../core/runs/errors";
import { runBusy } from "../../core/tracking/records/errors";
import { type CreatedRun, canBeRunId, type RunRecords, type RunTransition } from "../../core/tracking/run-records";
import type { RunIdentity, RunRecord } from "../../core/tracking/shapes";
import { firstHead } from "../metric-log/calls";
import { maxIdLength, pauseBeforeRound } from "./client";
import { ex } from "./expression";
import { readRecords, recordOfRows } from "./record-reads";
import { childrenKey, experimentRunsKey } from "./record-rows";
import { type RecordWritePorts, RecordWrites } from "./record-writes";
import { type RunIdentities, recordKey } from "./run-identities";
import type { Table } from "./table";

/** The maximum number of rounds. A round fails only if another change succeeded in the meantime. */
const rounds = 32;
/** The number of complete records in the cache. Large ones are not cached. */
const maxLatest = 1_000;
const maxCachedParams = 200;

export interface RunRecordDependencies extends RecordWritePorts {
  readonly identities: RunIdentities;
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
  const writes = new RecordWrites(table, dependencies);
  const latest = new LatestRecords();
  return {
    addInstanceType: (run, instanceType) => writes.addInstanceType(run, instanceType),
    of(team) {
      const reads = createReads(table, team, dependencies.identities);
      return { ...reads, ...createChanges({ table, team, reads, writes, latest, ...dependencies }) };
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

interface ChangeDependencies extends RunRecordDependencies {
  readonly table: Table;
  readonly team: string;
  readonly reads: Reads;
  readonly writes: RecordWrites;
  readonly latest: LatestRecords;
}

function createChanges(dependencies: ChangeDependencies): Pick<RunRecords, "create" | "change"> {
  const { table, team, reads, writes, latest, identities, changes } = dependencies;

  async function mustFind(runId: string): Promise<RunRecord> {
    const record = await reads.find(runId);
    if (!record) throw runNotFound(runId);
    return record;
  }

  /** Returns the run that has the id already. */
  async function existing(runId: string): Promise<CreatedRun> {
    const row = await table.get(recordKey(runId));
    if (row?.["team"] !== team) throw new Error(`the id ${runId} is taken by another team's run: send it again`);
    const requestDigest = row["requestDigest"] as string | undefined;
    // The process that created it may have died before it wrote the points.
    const found = { created: false, record: await mustFind(runId), pointsStored: false };
    return requestDigest === undefined ? found : { ...found, requestDigest };
  }

  /** Writes a record. Returns `undefined` if another process has changed it in the meantime. */
  async function update(before: RunRecord, after: RunRecord): Promise<RunRecord | undefined> {
    if (!(await writes.update(before, after))) return undefined;
    const record = { ...after, revision: before.revision + 1 };
    latest.note(record);
    return record;
  }

  /**
   * Changes a run from its cached record, which saves the read if no other process has changed it. The cached record
   * may be out of date, so it is never used to refuse a change or to skip one.
   */
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
    async create(given, { requestDigest, firstPoints } = {}) {
      const { runId, experimentId, source } = given;
      if (given.team !== team) throw new Error(`run ${runId} is of team ${given.team}, not of ${team}`);
      const head = firstPoints && firstHead(firstPoints.series, firstPoints.receipt);
      if (!(await writes.insert(given, requestDigest, head))) return existing(runId);
      identities.remember({ runId, team, experimentId, source });
      const record = { ...given, revision: 1 };
      latest.note(record);
      const digest = requestDigest === undefined ? {} : { requestDigest };
      return { created: true, record, pointsStored: head !== undefined, ...digest };
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

  /** Removes and returns the record of a team's run. */
  take(runId: string, team: string): RunRecord | undefined {
    const record = this.records.get(runId);
    if (record?.team !== team) return undefined;
    this.records.delete(runId);
    return record;
  }
}
