import * as z from "zod";
import { inboxReport } from "../../core/datasets/inbox/shapes";
import { datasetDraft, datasetName, datasetSummary, datasetVersion, sourceFile } from "../../core/datasets/shapes";
import { warning } from "../../core/shapes";
import { examples } from "../examples";
import { operationsFor, pageOf, response } from "../operation";
import { nameText, pageQuery, versionNumber } from "../schemas/common";

const operation = operationsFor("Datasets");
const name = z.strictObject({ name: nameText });
const nameAndVersion = name.extend({ version: versionNumber });
const answerVersion = z.object({ version: datasetVersion }).meta({ id: "DatasetVersionAnswer" });
const registration = z.object({ created: z.boolean(), version: datasetVersion }).meta({ id: "DatasetRegistration" });

export const registerDatasetVersion = operation("registerDatasetVersion", "POST /datasets/{name}/versions", {
  summary: "Register an uploaded snapshot as the next version",
  description:
    "Equal content is the same version, however often and from however many places it is sent. Its shards and index files must have been uploaded (`POST /uploads`).",
  params: name,
  body: z
    .strictObject({
      draft: datasetDraft,
      allowSchemaChange: z
        .boolean()
        .default(false)
        .meta({ description: "Columns may differ from the version before." }),
      sources: z
        .array(sourceFile)
        .max(100)
        .default([])
        .meta({ description: "The raw files that it was made of, in the order of their rows; kept for lineage." }),
      warnings: z
        .array(warning)
        .max(100)
        .optional()
        .meta({ description: "Findings of the client that pushed the version; a run's validation replaces them." }),
    })
    .meta({ id: "DatasetRegistrationRequest" }),
  bodyExample: { draft: examples.draft },
  idempotent: true,
  class: "heavy",
  responses: {
    200: response("A version with that content already exists.", registration),
    201: response("The new version.", registration),
  },
  errors: [
    "EMPTY_DATASET",
    "INVALID_DATASET_MANIFEST",
    "SCHEMA_MISMATCH",
    "OBJECT_DIFFERS",
    "DATASET_BUSY",
    "DATASET_CHANGED",
  ],
});

export const listDatasets = operation("listDatasets", "GET /datasets", {
  summary: "List datasets by name",
  ...pageOf({ id: "DatasetPage", description: "Datasets by name." }, datasetSummary),
});

export const listDatasetVersions = operation("listDatasetVersions", "GET /datasets/{name}/versions", {
  summary: "List a dataset's versions, newest first",
  params: name,
  ...pageOf({ id: "DatasetVersionPage", description: "Versions, newest first." }, datasetVersion),
  errors: ["DATASET_NOT_FOUND"],
});

export const getDataset = operation("getDataset", "GET /datasets/{name}", {
  summary: "Get the version that a new run would use",
  description: "The newest that is not deprecated; `NAME@3` for a version that must not be deprecated.",
  params: name,
  responses: {
    200: response("The version.", answerVersion),
  },
  errors: [
    "DATASET_NOT_FOUND",
    "DATASET_VERSION_NOT_FOUND",
    "DATASET_VERSION_DEPRECATED",
    "DATASET_WITHOUT_ACTIVE_VERSION",
  ],
});

export const getDatasetVersion = operation("getDatasetVersion", "GET /datasets/{name}/versions/{version}", {
  summary: "Get a version, deprecated or not",
  params: nameAndVersion,
  responses: {
    200: response("The version.", answerVersion),
  },
  errors: ["DATASET_NOT_FOUND", "DATASET_VERSION_NOT_FOUND"],
});

export const deprecateDatasetVersion = operation(
  "deprecateDatasetVersion",
  "POST /datasets/{name}/versions/{version}/deprecate",
  {
    summary: "Keep new runs from using a version",
    description: "It stays readable. The first deprecation stands.",
    params: nameAndVersion,
    body: z.strictObject({ reason: z.string().max(1_000).default("") }).meta({ id: "DeprecationRequest" }),
    bodyExample: { reason: "labels of March are wrong" },
    idempotent: true,
    responses: {
      200: response("The version.", answerVersion),
    },
    errors: ["DATASET_NOT_FOUND", "DATASET_VERSION_NOT_FOUND"],
  },
);

const answer = z.object({ report: inboxReport }).meta({ id: "InboxReportAnswer" });

export const listInboxReports = operation("listInboxReports", "GET /inbox", {
  summary: "List the results for files that were put into the inbox",
  description:
    "A file under `teams/<team>/inbox/<dataset>/` in the bucket becomes the dataset's next version. Otherwise its report states the reason and the next step.",
  ...pageOf({ id: "InboxPage", description: "Reports, the newest file first." }, inboxReport),
  query: pageQuery.extend({ dataset: datasetName.optional().meta({ description: "Only files of this dataset." }) }),
});

export const retryInboxFile = operation("retryInboxFile", "POST /inbox/{id}/retry", {
  summary: "Try a refused file again",
  description: "Reads the file again, without another upload.",
  params: z.strictObject({ id: z.string().regex(/^[0-9a-f]{16}$/, "must be a report's id: 16 hexadecimal digits") }),
  responses: {
    200: response("The report, until the file has been read.", answer),
  },
  errors: ["INBOX_REPORT_NOT_FOUND", "INBOX_FILE_NOT_REFUSED", "INBOX_FILE_GONE"],
});
