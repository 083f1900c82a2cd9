import * as z from "zod";
import {
  batch,
  batchDraft,
  batchPage,
  featureValue,
  maxStreamedRows,
  onlineRow,
  rowsState,
  viewDefinition,
  viewPage,
  viewVersion,
  viewVersionPage,
} from "../../core/feature-store/shapes";
import { warning } from "../../core/shapes";
import { viewUse } from "../lineage/shapes";
import { operationsFor, pageOf, response } from "../operation";
import { nameText, pageQuery, versionNumber } from "../schemas/common";

const operation = operationsFor("Feature store");
const view = z.strictObject({ view: nameText });

const at = "2026-01-01T09:30:00.000Z";
const definition = {
  ...{ name: "customer-spend", owner: "growth", entities: ["customer"], eventTime: "at", ttl: "90d" },
  ...{ columns: { customer: "int", at: "timestamp", spend: "float" }, steps: [] },
} as const;
const draftExample = {
  ...{ generation: 1, rows: 2, latestTime: at },
  files: [{ sha256: "b".repeat(64), bytes: 900, rows: 2, from: "2026-01-01", to: "2026-01-01" }],
};
const registration = z
  .object({
    created: z.boolean(),
    version: viewVersion,
    warnings: z.array(warning).optional().meta({ description: "Models in production that read earlier rows." }),
  })
  .meta({ id: "FeatureViewRegistration" });
const batchRegistration = z.object({ created: z.boolean(), batch }).meta({ id: "FeatureBatchRegistration" });
const answer = z
  .object({ version: viewVersion, state: rowsState })
  .meta({ id: "FeatureViewAnswer", description: "A version, and the rows of its generation." });
export const registerFeatureView = operation("registerFeatureView", "POST /feature-views", {
  summary: "Register a feature view, or its next version",
  description:
    "Equal definitions are the same version. A definition that removes or retypes a feature or a column, or changes entities or times, needs `allowIncompatible` and starts without rows.",
  body: z
    .strictObject({ definition: viewDefinition, allowIncompatible: z.boolean().default(false) })
    .meta({ id: "FeatureViewRequest" }),
  bodyExample: { definition },
  idempotent: true,
  responses: {
    200: response("A version with that definition already exists.", registration),
    201: response("The new version.", registration),
  },
  errors: ["FEATURE_VIEW_INCOMPATIBLE", "FEATURE_VIEW_BUSY"],
});

export const listFeatureViews = operation("listFeatureViews", "GET /feature-views", {
  summary: "List feature views by name",
  query: pageQuery,
  pages: "items",
  responses: { 200: response("A page.", viewPage) },
});

export const getFeatureView = operation("getFeatureView", "GET /feature-views/{view}", {
  summary: "Get the newest version of a feature view, and the state of its rows",
  params: view,
  responses: { 200: response("The version.", answer) },
  errors: ["FEATURE_VIEW_NOT_FOUND"],
});

export const listFeatureViewVersions = operation("listFeatureViewVersions", "GET /feature-views/{view}/versions", {
  summary: "List the versions of a feature view, newest first",
  params: view,
  query: pageQuery,
  pages: "items",
  responses: { 200: response("A page.", viewVersionPage) },
  errors: ["FEATURE_VIEW_NOT_FOUND"],
});

export const getFeatureViewVersion = operation(
  "getFeatureViewVersion",
  "GET /feature-views/{view}/versions/{version}",
  {
    summary: "Get a version of a feature view, and the state of its rows",
    params: view.extend({ version: versionNumber }),
    responses: { 200: response("The version.", answer) },
    errors: ["FEATURE_VIEW_NOT_FOUND", "FEATURE_VIEW_VERSION_NOT_FOUND"],
  },
);

export const listFeatureViewUses = operation("listFeatureViewUses", "GET /feature-views/{view}/uses", {
  summary: "List the dataset and model versions that use features of a view",
  description: "By the version of the view. Use follows from the columns of dataset versions that name a feature.",
  params: view,
  ...pageOf({ id: "FeatureViewUsePage" }, viewUse),
  errors: ["FEATURE_VIEW_NOT_FOUND"],
});

export const registerFeatureBatch = operation("registerFeatureBatch", "POST /feature-views/{view}/batches", {
  summary: "Make uploaded rows visible",
  description:
    "The files must have been uploaded (`POST /uploads`). Idempotent: equal files are the same batch. `ringmaster views ingest` creates the files.",
  params: view,
  body: batchDraft,
  bodyExample: draftExample,
  idempotent: true,
  class: "heavy",
  responses: {
    200: response("The batch already exists.", batchRegistration),
    201: response("The batch.", batchRegistration),
  },
  errors: ["FEATURE_VIEW_NOT_FOUND", "FEATURE_VIEW_CHANGED", "FEATURE_VIEW_BUSY"],
});

export const listFeatureBatches = operation("listFeatureBatches", "GET /feature-views/{view}/batches", {
  summary: "List the batches of rows of a feature view, in the order of their arrival",
  params: view,
  query: pageQuery.extend({
    version: versionNumber
      .optional()
      .meta({ description: "Batches of this version's generation; default: the newest." }),
    after: z.coerce.number<number | string>().int().min(0).max(999_999_999).default(0).meta({
      description: "Only batches after this sequence.",
    }),
  }),
  pages: "items",
  responses: {
    200: response("A page. The rows are Parquet in the content store.", batchPage),
  },
  errors: ["FEATURE_VIEW_NOT_FOUND", "FEATURE_VIEW_VERSION_NOT_FOUND"],
});

export const materializeFeatureView = operation(
  "materializeFeatureView",
  "POST /feature-views/{view}/materializations",
  {
    summary: "Bring new batches into the online store",
    description:
      "Starts the work. It is done when `state.online.batch` of the view is at least `batches` of the answer. Idempotent.",
    params: view,
    idempotent: true,
    responses: {
      202: response("The state when it started.", rowsState),
    },
    errors: ["FEATURE_VIEW_NOT_FOUND"],
  },
);

export const sendFeatureRows = operation("sendFeatureRows", "POST /feature-views/{view}/rows", {
  summary: "Send rows as an event, for both stores",
  description:
    "The rows are checked, and stored after the answer: offline and online. Rows that are sent again are stored once. A program on AWS may put the event `Feature Rows` itself.",
  params: view,
  body: z
    .strictObject({ rows: z.array(z.record(z.string(), featureValue)).min(1).max(maxStreamedRows) })
    .meta({ id: "FeatureRowsRequest" }),
  bodyExample: { rows: [{ customer: 17, at, spend: 12.5 }] },
  idempotent: true,
  responses: {
    202: response("The rows were accepted.", z.object({ accepted: z.int() }).meta({ id: "FeatureRowsAnswer" })),
  },
  errors: ["FEATURE_VIEW_NOT_FOUND"],
});

export const readOnlineFeatures = operation("readOnlineFeatures", "POST /online-features", {
  summary: "Read the latest features of entities",
  description: "One read of the online store for each entity and view. A view is `name` or `name@version`.",
  scope: "read",
  class: "read",
  body: z
    .strictObject({
      views: z.array(nameText).min(1).max(20),
      entities: z.array(z.record(z.string(), featureValue)).min(1).max(100),
      fullNames: z.boolean().default(false).meta({ description: "Names features `view__feature`." }),
    })
    .meta({ id: "OnlineFeaturesRequest" }),
  bodyExample: { views: ["customer-spend"], entities: [{ customer: 17 }] },
  idempotent: true,
  responses: {
    200: response(
      "A row for each entity, in their order. Features without a value are null.",
      z.object({ rows: z.array(onlineRow) }).meta({ id: "OnlineFeaturesAnswer" }),
    ),
  },
  errors: ["FEATURE_VIEW_NOT_FOUND", "FEATURE_VIEW_VERSION_NOT_FOUND"],
});
