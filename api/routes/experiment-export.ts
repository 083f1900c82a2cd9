import { parquetOf } from "../../adapters/parquet";
import type { TeamScope } from "../../adapters/port";
import { inParts, mapLimited } from "../../core/each-limited";
import type { Clock } from "../../core/ports";
import { type Cell, type ColumnBlock, csvOf, type ExportTable, exportColumns } from "../../core/tables";
import type { Experiments } from "../../core/tracking/experiments";
import type { MetricStore } from "../../core/tracking/metric-store";
import { experimentNotFound } from "../../core/tracking/records/errors";
import type { RunChanges, RunRecords } from "../../core/tracking/run-records";
import type { RunRecord } from "../../core/tracking/shapes";
import { type CallOf, defineReplyRoute } from "../http/route";
import { exportExperiment } from "../operations/experiments";

export interface ExportDependencies {
  readonly records: Pick<RunRecords, "list" | "findMany">;
  readonly changes: Pick<RunChanges, "since">;
  readonly metrics: Pick<MetricStore, "readMany" | "summariesOf">;
  readonly clock: Clock;
}

/** Runs that are read with one call, and number of calls at the same time. Bounds the memory. */
const runsPerRead = 100;
const readsAtOnce = 4;
/** Rows after which a block is passed on. */
const rowsPerBlock = 50_000;
/** The index of runs is this late at most. Newer runs come from the marks of changes. */
const indexDelayMs = 60_000;

/** Reads a table in blocks of bounded memory, without deleted runs; of points stored after the call, it has some. */
async function* exportRows(
  dependencies: ExportDependencies,
  experimentId: string,
  table: ExportTable,
): AsyncGenerator<ColumnBlock> {
  const width = exportColumns[table].length;
  let block: Cell[][] = Array.from({ length: width }, () => []);
  for await (const runs of runsOf(dependencies, experimentId)) {
    const parts = inParts(runs, runsPerRead);
    for (let i = 0; i < parts.length; i += readsAtOnce) {
      const read = await mapLimited(parts.slice(i, i + readsAtOnce), readsAtOnce, (part) =>
        rowsOf(dependencies, table, part),
      );
      for (const add of read) add((row) => addRow(block, row));
      if ((block[0]?.length ?? 0) < rowsPerBlock) continue;
      yield block;
      block = Array.from({ length: width }, () => []);
    }
  }
  if ((block[0]?.length ?? 0) > 0) yield block;
}

function addRow(block: readonly Cell[][], row: readonly Cell[]): void {
  for (const [i, cell] of row.entries()) block[i]?.push(cell);
}

type Rows = (add: (row: readonly Cell[]) => void) => void;

async function* runsOf(
  { records, changes, clock }: ExportDependencies,
  experimentId: string,
): AsyncGenerator<readonly RunRecord[]> {
  const from = clock.now() - indexDelayMs;
  const listed = new Set<string>();
  for await (const page of records.list(experimentId)) {
    for (const { runId } of page) listed.add(runId);
    yield page.filter(isVisible);
  }
  const recent = (await changes.since(experimentId, from)).filter((runId) => !listed.has(runId));
  for (const part of inParts(recent, runsPerRead)) {
    yield (await records.findMany(part)).filter((run) => run.experimentId === experimentId && isVisible(run));
  }
}

const isVisible = ({ lifecycle }: RunRecord): boolean => lifecycle === "active";

async function rowsOf({ metrics }: ExportDependencies, table: ExportTable, runs: readonly RunRecord[]): Promise<Rows> {
  const ids = runs.map(({ runId }) => runId);
  switch (table) {
    case "runs":
      return (add) => {
        for (const run of runs) add(runRow(run));
      };
    case "params":
    case "tags":
      return (add) => {
        for (const run of runs) for (const [key, value] of Object.entries(run[table])) add([run.runId, key, value]);
      };
    case "metrics": {
      const summaries = await metrics.summariesOf(ids);
      return (add) => {
        for (const runId of ids) {
          for (const { metric, last, lastStep, lastTime, min, max } of summaries.get(runId) ?? []) {
            add([runId, metric, last, lastStep, lastTime, min, max]);
          }
        }
      };
    }
    case "points": {
      const curves = await metrics.readMany(ids);
      return (add) => {
        for (const runId of ids) {
          for (const { metric, points } of curves.get(runId) ?? []) {
            for (const { step, time, value } of points) add([runId, metric, step, time, value]);
          }
        }
      };
    }
  }
}

function runRow(run: RunRecord): readonly Cell[] {
  const [dataset] = run.datasets;
  return [
    ...[run.runId, run.name, run.source, run.status, run.createdBy, run.parentRunId],
    ...[run.startedAt, run.endedAt, run.seed],
    ...[dataset?.name, dataset?.digest, run.code.commit, run.weightsSha256, run.notes],
  ];
}

const formats = {
  csv: { type: "text/csv; charset=utf-8", write: csvOf },
  parquet: { type: "application/vnd.apache.parquet", write: parquetOf },
} as const;

interface ExportPorts extends TeamScope, ExportDependencies {
  readonly experiments: Pick<Experiments, "find">;
}

/** Streams a table of an experiment. A failure breaks the connection off, so that the file does not look complete. */
export const exportRoute = defineReplyRoute(
  exportExperiment,
  async (call: CallOf<typeof exportExperiment, ExportPorts>) => {
    const { platform, params, query } = call;
    const { experimentId } = params;
    const { table, format } = query;
    const experiment = await platform.experiments.find(experimentId);
    if (!experiment) throw experimentNotFound({ experimentId });
    const { type, write } = formats[format];
    const parts = write(exportColumns[table], exportRows(platform, experimentId, table));
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          try {
            const { value, done } = await parts.next();
            if (done) controller.close();
            else controller.enqueue(value);
          } catch (error) {
            platform.logger.log("error", "an export was interrupted", { error, experimentId, table });
            controller.error(error);
          }
        },
        async cancel() {
          await parts.return(undefined);
        },
      },
      { highWaterMark: 0 },
    );
    const name = `${experimentId}-${table}.${format}`;
    return {
      response: new Response(body, {
        headers: { "content-type": type, "content-disposition": `attachment; filename="${name}"` },
      }),
    };
  },
);
