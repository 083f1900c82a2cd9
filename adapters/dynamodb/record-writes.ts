import { BoundedMap } from "../../core/bounded-map";
import { runFieldFixed } from "../../core/tracking/records/errors";
import { type KeptRecord, keptOf } from "../../core/tracking/records/training-record";
import type { RunIdentity, RunRecord } from "../../core/tracking/shapes";
import type { LogHead } from "../metric-log/log-state";
import { absent, ex, exists } from "./expression";
import type { GroupCommit } from "./group-commit";
import { headItem } from "./metric-rows";
import { childRow, type LoggedRecord, newRecordRow, packRecord } from "./record-rows";
import type { AllRunChanges } from "./run-changes";
import { recordKey } from "./run-identities";
import type { Table } from "./table";

/** The number of recorded instance types that a process remembers, over all runs. */
const maxRemembered = 100_000;

export interface RecordWritePorts {
  readonly changes: Pick<AllRunChanges, "mark" | "row" | "wrote">;
  readonly creations: GroupCommit;
  /** Table Metrics. */
  readonly metrics: Table;
}

/** Writes records of all teams' runs. Every write marks its run as changed. */
export class RecordWrites {
  private readonly instanceTypes = new BoundedMap<string, true>(maxRemembered);

  constructor(
    private readonly table: Table,
    private readonly ports: RecordWritePorts,
  ) {}

  /**
   * Writes a logged run, its mark, its parent's row and the head of its metrics, or nothing. Returns `false` if its id is
   * taken.
   *
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

  /**
   * Writes a changed record. Returns `false` if another process has changed it in the meantime.
   *
   * @throws RUN_FIELD_FIXED, RUN_RECORD_TOO_LARGE
   */
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

  /** Records the instance type of a training run's machine. Idempotent. */
  async addInstanceType(run: RunIdentity, instanceType: string): Promise<void> {
    const known = `${run.runId}/${instanceType}`;
    if (this.instanceTypes.has(known)) return;
    const added = ex`ADD instanceTypes ${new Set([instanceType])}`;
    await this.marked(run, () => this.table.update(recordKey(run.runId), added, exists));
    this.instanceTypes.set(known, true);
  }

  /**
   * Marks a run as changed before and after a write. A reader between the two treats the run as changed for
   * `clockSkewMs`, and a later reader finds the second mark.
   */
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
