import { RingmasterError } from "../../errors";
import type { InboxReport } from "./shapes";

/** The reason why a file did not become a version, and what its owner can do next. The file stays in the inbox. */
export type Refusal = Required<Pick<InboxReport, "code" | "reason" | "nextStep">> & { readonly status: "refused" };

const refuse = (code: string, reason: string, nextStep: string): Refusal => ({
  status: "refused",
  code,
  reason,
  nextStep,
});
const again = "then `ringmaster datasets inbox --retry <id>`";
const pushFrom = (dataset: string, where: string): string =>
  `\`ringmaster datasets push ${dataset} --file … --schema …\` from ${where}`;

export const refusals = {
  misplaced: (path: string) =>
    refuse(
      "INBOX_FILE_MISPLACED",
      `inbox/${path} does not name a dataset: the path must be inbox/<dataset>/<file>, and a dataset name has 1–63 lower-case letters, digits and hyphens`,
      "upload the file again under inbox/<dataset>/",
    ),
  unknownDataset: (dataset: string) =>
    refuse(
      "DATASET_NOT_FOUND",
      `there is no dataset ${dataset}, so the file has no schema`,
      `create its first version with a schema file: ${pushFrom(dataset, "any machine")}; ${again}`,
    ),
  tooLarge: (bytes: number, most: number, dataset: string) =>
    refuse(
      "INBOX_FILE_TOO_LARGE",
      `the file has ${bytes} bytes, but must have at most ${most}: the function that reads it has 10 GB of disk and 15 minutes`,
      pushFrom(dataset, "a machine with enough disk space"),
    ),
  silent: (tries: number, dataset: string) =>
    refuse(
      "INBOX_READER_DIED",
      `the function that reads the file ended ${tries} times without an error message: the file takes more than 15 minutes or more memory than the function has`,
      pushFrom(dataset, "a larger machine"),
    ),
  gone: (path: string) =>
    refuse(
      "INBOX_FILE_GONE",
      `inbox/${path} was removed or replaced by other content before it was read`,
      "upload the file again if it was removed; other content has its own report",
    ),
  failed: (message: string, path: string) =>
    refuse(
      "INBOX_READ_FAILED",
      `reading inbox/${path} failed on every attempt; the last error: ${message.slice(0, 1_000)}`,
      `see the log of the function snapshot-dataset; ${again}`,
    ),
} as const;

/** Returns the refusal for an error that the same file would meet again; `undefined` for a transient error. */
export function refusalOf(error: unknown, path: string, dataset = "…"): Refusal | undefined {
  if (!(error instanceof RingmasterError)) return undefined;
  const { code, message } = error;
  if (code === "DISK_FULL") {
    const reason = `inbox/${path} needs more than the 10 GB of disk of the function that reads it, once it is uncompressed`;
    return refuse("INBOX_FILE_TOO_LARGE", reason, pushFrom(dataset, "a machine with enough disk space"));
  }
  if (error.retryable || error.httpStatus >= 500) return undefined;
  if (code === "INVALID_ROWS" || code === "INVALID_INPUT" || code === "EMPTY_DATASET") {
    const meant = pushFrom(dataset, "any machine");
    return refuse(
      code,
      message,
      `correct the file and upload it again; if the columns are meant to change, ${meant} with a new schema and --allow-schema-change`,
    );
  }
  if (code === "DATA_CONTRACT_VIOLATED") {
    const change = `\`ringmaster datasets contract set ${dataset} --file contract.yaml\``;
    return refuse(
      code,
      message,
      `correct the file and upload it again; or change the contract with ${change}, ${again}`,
    );
  }
  return refuse(code, message, `correct this, ${again}`);
}
