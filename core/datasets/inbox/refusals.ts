import { RingmasterError } from "../../errors";
import type { InboxReport } from "./report";

/** Why a file did not become a version, and what its owner does next. The file stays where it is. */
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
      `inbox/${path} names no dataset: files belong under inbox/<dataset>/, whose name is 1–63 lower-case letters, digits and hyphens`,
      "put it there",
    ),
  unknownDataset: (dataset: string) =>
    refuse(
      "DATASET_NOT_FOUND",
      `there is no dataset ${dataset}: what its columns mean has not been said yet`,
      `make its first version with a schema file, ${pushFrom(dataset, "any machine")}; ${again}`,
    ),
  tooLarge: (bytes: number, most: number, dataset: string) =>
    refuse(
      "INBOX_FILE_TOO_LARGE",
      `the file has ${bytes} bytes, but must have at most ${most}: the function that reads it has 10 GB of disk and 15 minutes`,
      pushFrom(dataset, "a machine with room for it"),
    ),
  silent: (tries: number, dataset: string) =>
    refuse(
      "INBOX_READER_DIED",
      `reading it ended ${tries} times without a word: it takes more than 15 minutes, or more memory than the function has`,
      pushFrom(dataset, "a larger machine"),
    ),
  gone: (path: string) =>
    refuse(
      "INBOX_FILE_GONE",
      `inbox/${path} was removed, or replaced by another content, before it was read`,
      "nothing, where another content was put: it has a report of its own",
    ),
  failed: (message: string, path: string) =>
    refuse(
      "INBOX_READ_FAILED",
      `reading inbox/${path} failed each time, at last with: ${message.slice(0, 1_000)}`,
      `look into the log of snapshot-dataset; ${again}`,
    ),
} as const;

/** What the same file would meet again; `undefined` for what may pass. */
export function refusalOf(error: unknown, path: string, dataset = "…"): Refusal | undefined {
  if (!(error instanceof RingmasterError)) return undefined;
  const { code, message } = error;
  if (code === "DISK_FULL") {
    const reason = `inbox/${path} needs more than the 10 GB of disk that its reader has, once it is unpacked`;
    return refuse("INBOX_FILE_TOO_LARGE", reason, pushFrom(dataset, "a machine with room for it"));
  }
  if (error.retryable || error.httpStatus >= 500) return undefined;
  if (code === "INVALID_ROWS" || code === "INVALID_INPUT" || code === "EMPTY_DATASET") {
    const meant = pushFrom(dataset, "any machine");
    return refuse(
      code,
      message,
      `mend the file and put it again; where its columns were meant to change, ${meant} with a new schema and --allow-schema-change`,
    );
  }
  return refuse(code, message, `see to that, ${again}`);
}
