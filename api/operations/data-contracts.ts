import * as z from "zod";
import { dataContractOutcome } from "../../core/datasets/contract/report";
import { dataContract } from "../../core/datasets/contract/rules";
import { dataContractRecord } from "../../core/datasets/contract/stored";
import { datasetName } from "../../core/datasets/shapes";
import { count, instant, sha256 } from "../../core/shapes";
import { examples } from "../examples";
import { operationsFor, pageOf, response } from "../operation";
import { reason } from "../schemas/common";

const operation = operationsFor("Datasets");
const name = z.strictObject({ name: datasetName });
const revision = z.coerce.number<number | string>().int().min(1).max(999_999_999);
export const getDataContract = operation("getDataContract", "GET /datasets/{name}/contract", {
  summary: "Get the data contract of a dataset",
  description: "The current revision, or the requested one.",
  params: name,
  query: z.strictObject({ revision: revision.optional() }),
  responses: {
    200: response("The contract.", z.object({ contract: dataContractRecord }).meta({ id: "DataContractAnswer" })),
  },
  errors: ["DATA_CONTRACT_NOT_FOUND"],
});

export const listDataContracts = operation("listDataContracts", "GET /datasets/{name}/contract/revisions", {
  summary: "List the revisions of a dataset's data contract, newest first",
  params: name,
  ...pageOf({ id: "DataContractPage" }, dataContractRecord),
});

export const setDataContract = operation("setDataContract", "PUT /datasets/{name}/contract", {
  summary: "Set the data contract that the rows of each version must satisfy",
  description:
    "Applies to later pushes and files of the inbox, and to every run of the dataset, also of earlier versions. The same rules are the same revision. The dataset need not exist.",
  params: name,
  body: z
    .strictObject({
      contract: dataContract,
      ifRevision: count.optional().meta({ description: "The revision that is changed; 0: there is none." }),
      reason,
    })
    .meta({ id: "DataContractRequest" }),
  bodyExample: {
    contract: { rules: [{ rule: "notNull", column: "digit", severity: "block", tolerance: 0 }] },
    ifRevision: 0,
  },
  responses: {
    200: response(
      "The contract; `created` is false if the rules are those of the current revision.",
      z.object({ created: z.boolean(), record: dataContractRecord }).meta({ id: "DataContractSetAnswer" }),
    ),
  },
  errors: ["DATA_CONTRACT_CHANGED", "DATASET_BUSY"],
});

export const reportBlockedPush = operation("reportBlockedPush", "POST /datasets/{name}/contract/blocked", {
  summary: "Report that the data contract blocked a push",
  description:
    "`ringmaster datasets push` checks the rows where they are, and registers no version if a rule blocks. Publishes the event `Data Contract Blocked`; a repeated request publishes the same event.",
  params: name,
  body: z
    .strictObject({
      revision: z.int().min(1),
      digest: sha256.meta({ description: "Digest of the version that was not registered." }),
      at: instant.max(40),
      rows: count,
      file: z.string().min(1).max(1_024).optional(),
      violations: z.array(dataContractOutcome).min(1).max(50),
    })
    .meta({ id: "BlockedPush" }),
  bodyExample: {
    ...{ revision: 1, digest: examples.draft.digest, at: "2026-01-01T09:30:00.000Z", rows: 100, file: "march.csv" },
    violations: [
      {
        ...{ rule: "notNull", index: 0, severity: "block", columns: ["digit"], requirement: "must not be missing" },
        ...{ status: "violated", rows: 2, samples: [{ row: 17, values: { digit: null } }] },
      },
    ],
  },
  idempotent: true,
  responses: {
    200: response("The event.", z.object({ eventId: z.string() }).meta({ id: "BlockedPushAnswer" })),
  },
  errors: ["DATA_CONTRACT_NOT_FOUND"],
});
