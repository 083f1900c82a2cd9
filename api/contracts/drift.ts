import * as z from "zod";
import { loggedRow, maxServedRows } from "../../core/drift/served-batch";
import { servedBatch } from "../../core/drift/served-log";
import { count, nextToken } from "../../core/shapes";
import { contractsFor } from "../contract";
import { pageQuery, versionNumber } from "../schemas/common";
import { modelName } from "../schemas/models";

const contract = contractsFor("Drift");
const version = z.int().min(1).max(999_999_999);

export const logServedRows = contract("logServedRows", "POST /models/{name}/served", {
  summary: "Log rows that a version has served",
  description:
    "Stores the rows of the sampled units: the largest rate of the model's monitors, or all units without a monitor. The hash of the unit decides. Idempotent: a batch that is sent again is stored once. Rows are stored for 30 days; rows of an earlier time are refused.",
  params: z.strictObject({ name: modelName }),
  body: z
    .strictObject({
      version: version.meta({ description: "The version that predicted." }),
      rows: z.array(loggedRow).min(1).max(maxServedRows),
    })
    .meta({ id: "ServedReport" }),
  bodyExample: {
    version: 3,
    rows: [{ unit: "user-17", at: "2026-01-01T09:30:00Z", row: { age: 41, plan: "basic" }, prediction: true }],
  },
  idempotent: true,
  responses: {
    200: {
      description: "Number of stored rows.",
      schema: z
        .object({
          stored: count.meta({ description: "Rows of this batch that are in the log." }),
          repeated: z.boolean().meta({ description: "Whether the batch was in the log already." }),
          rate: z.number().meta({ description: "Share of units that are stored." }),
        })
        .meta({ id: "ServedAnswer" }),
      example: { stored: 1, repeated: false, rate: 1 },
    },
  },
  errors: ["MODEL_NOT_FOUND", "MODEL_VERSION_NOT_FOUND", "SERVED_ROWS_BUSY"],
});

export const listServedBatches = contract("listServedBatches", "GET /models/{name}/versions/{version}/served", {
  summary: "List the served rows of a version, by batches, oldest first",
  params: z.strictObject({ name: modelName, version: versionNumber }),
  query: pageQuery.extend({
    after: z.coerce.number<number | string>().int().min(0).max(999_999_999).default(0).meta({
      description: "Only batches after this sequence.",
    }),
  }),
  pages: "batches",
  responses: {
    200: {
      description: "A page. The rows are in the content store: compressed JSON by column.",
      schema: z
        .object({
          totals: z.object({ batches: count, rows: count }).meta({ description: "Of all batches, expired ones too." }),
          batches: z.array(servedBatch),
          nextToken,
        })
        .meta({ id: "ServedBatchPage" }),
      example: { totals: { batches: 0, rows: 0 }, batches: [] },
    },
  },
  errors: ["MODEL_NOT_FOUND", "MODEL_VERSION_NOT_FOUND"],
});
