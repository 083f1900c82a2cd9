import { invoke, listBucket, objects, table } from "./grants";
import type { Permission } from "./policy";

/** What the trainers in Batch may do. */
export const trainerPermissions: readonly Permission[] = [
  table("Gangs", "Query", "GetItem", "BatchGetItem", "PutItem", "UpdateItem"),
  objects("GetObject", "PutObject", "DeleteObject", "AbortMultipartUpload"),
  listBucket,
  invoke("ingest-metrics"),
];
