import type { TeamScope } from "../../adapters/port";
import type { Experiments } from "../../core/tracking/experiments";
import { experimentNotFound } from "../../core/tracking/records/errors";
import { exportExperiment } from "../contracts/experiments";
import { type CallOf, defineReplyRoute } from "../http/route";
import { csvOf } from "../tables/csv";
import { type ExportDependencies, exportRows } from "../tables/export-rows";
import { parquetOf } from "../tables/parquet";
import { exportColumns } from "../tables/tables";

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
