import type { SharedJobs } from "../../core/training/shared-jobs";
import { catalog, queryIndex } from "../../platform/permissions/grants";
import { absent, catalogPort, ex, type Table } from "./table";

export function createSharedJobs(table: Table): SharedJobs {
  const key = (jobId: string) => ({ pk: `JOB#${jobId}`, sk: "SHARED" });
  const listed = (sharing: string): string => `JOBS#${sharing}`;

  return {
    find: (jobId) => table.record(key(jobId)),

    list: (sharing) => table.records(ex`gsi1pk = ${listed(sharing)}`, { index: "gsi1" }),

    save(job) {
      const { jobId, sharing, revision } = job;
      const row = { ...key(jobId), gsi1pk: listed(sharing), gsi1sk: jobId, revision, record: job };
      return table.put(row, revision === 1 ? absent : ex`revision = ${revision - 1}`);
    },

    remove: (job) => table.delete(key(job.jobId), ex`revision = ${job.revision}`),
  };
}

export const sharedJobs = catalogPort(createSharedJobs, {
  find: [catalog("GetItem")],
  list: [queryIndex("Catalog", "gsi1")],
  save: [catalog("PutItem")],
  remove: [catalog("DeleteItem")],
});
