import type { SharedJob, SharedJobs } from "../../core/training/shared-jobs";
import { catalog, queryIndex } from "../../platform/permissions/grants";
import { sharedPort } from "../port";
import { absent, catalogTable, ex, type Table } from "./table";

/** Stores the row of a shared job in the Catalog table (docs/access-patterns.md, "Studies"). */
export function createSharedJobs(table: Table): SharedJobs {
  const key = (jobId: string) => ({ pk: `JOB#${jobId}`, sk: "SHARED" });
  const listed = (sharing: string): string => `JOBS#${sharing}`;

  return {
    find: async (jobId) => (await table.get(key(jobId)))?.["record"] as SharedJob | undefined,

    list: async (sharing) =>
      (await table.all(ex`gsi1pk = ${listed(sharing)}`, { index: "gsi1" })).map((item) => item["record"] as SharedJob),

    save: (job) =>
      table.put(
        {
          ...key(job.jobId),
          gsi1pk: listed(job.sharing),
          gsi1sk: job.jobId,
          revision: job.revision,
          record: job,
        },
        job.revision === 1 ? absent : ex`revision = ${job.revision - 1}`,
      ),

    remove: (job) => table.delete(key(job.jobId), ex`revision = ${job.revision}`),
  };
}

export const sharedJobs = sharedPort({
  uses: { table: catalogTable() },
  grants: {
    find: [catalog("GetItem")],
    list: [queryIndex("Catalog", "gsi1")],
    save: [catalog("PutItem")],
    remove: [catalog("DeleteItem")],
  },
  make: ({ table }) => createSharedJobs(table),
});
