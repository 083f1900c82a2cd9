import { badRequest, busy, conflict, notFound } from "../errors";
import { formatBytes } from "../quantities";
import type { DatasetManifest } from "./shapes";

export interface RowViolation {
  readonly column: string;
  /** The rule, as a requirement: `must be a whole number`. */
  readonly rule: string;
  readonly count: number;
  /**
   * The first violations. `row` counts from 1 in its file, and does not count a CSV file's header. `file` is given if
   * there are several.
   */
  readonly examples: readonly { readonly row: number; readonly value: unknown; readonly file?: string }[];
}

export const datasetNotFound = (name: string) =>
  notFound("DATASET_NOT_FOUND", `there is no dataset ${JSON.stringify(name)}`, { name });

export const datasetVersionNotFound = (name: string, version: number, latest: number) =>
  notFound("DATASET_VERSION_NOT_FOUND", `dataset ${name} has no version ${version}; its latest is ${name}@${latest}`, {
    name,
    version,
    latest,
  });

export const datasetVersionDeprecated = (name: string, version: number, reason: string) =>
  conflict(
    "DATASET_VERSION_DEPRECATED",
    `dataset ${name}@${version} is deprecated (${reason}); use ${name}@latest or another version that is not deprecated`,
    { name, version, reason },
  );

export const noActiveVersion = (name: string) =>
  conflict(
    "DATASET_WITHOUT_ACTIVE_VERSION",
    `every version of dataset ${name} is deprecated, so ${name}@latest has no version; push a new version`,
    { name },
  );

export const emptyDataset = (what: string) =>
  badRequest(
    "EMPTY_DATASET",
    `${what} has no rows, but a dataset needs at least one; check that this is the right file`,
    { what },
  );

/** Thrown when shards that are read together have more bytes than the disk has free. */
export const datasetTooLarge = (
  { name, version, bytes }: Pick<DatasetManifest, "name" | "version" | "bytes">,
  roomBytes: number,
) =>
  badRequest(
    "DATASET_TOO_LARGE",
    `dataset ${name}@${version} has ${formatBytes(bytes)} in its shards, and the disk on which they are read has ${formatBytes(roomBytes)} free (10 GB in a function on AWS); free disk space on this machine, or push fewer rows`,
    { name, version, bytes, roomBytes },
  );

export const schemaMismatch = (name: string, version: number, changes: readonly string[]) =>
  conflict(
    "SCHEMA_MISMATCH",
    `the schema differs from that of ${name}@${version}: ${changes.join("; ")}; ` +
      "push under another name, or with --allow-schema-change if the change is intended",
    { name, version, changes },
  );

export const invalidRows = (what: string, violations: readonly RowViolation[]) =>
  badRequest(
    "INVALID_ROWS",
    `${what} does not match its schema: ${violations.map(describeViolation).join("; ")}; correct the rows or the schema`,
    { violations },
  );

export const datasetRejected = (name: string, version: number, reasons: readonly string[]) =>
  badRequest(
    "DATASET_REJECTED",
    `dataset ${name}@${version} failed validation: ${reasons.join("; ")}; push a corrected version`,
    { name, version, reasons },
  );

/** Thrown when a manifest contradicts itself or names content that was never uploaded. */
export const invalidManifest = (name: string, reasons: readonly string[]) =>
  badRequest(
    "INVALID_DATASET_MANIFEST",
    `the manifest of dataset ${name} cannot be registered: ${reasons.join("; ")}; push again`,
    { name, reasons },
  );

export const datasetChanged = (name: string, parent: number, newest: number) =>
  conflict(
    "DATASET_CHANGED",
    `the rows were appended to ${name}@${parent}, but the newest version is ${name}@${newest}; append them again, or push a whole file if the newest version is deprecated`,
    { name, parent, newest },
  );

export const datasetBusy = (name: string, attempts: number) =>
  busy(
    "DATASET_BUSY",
    `dataset ${name} was changed by other registrations during each of ${attempts} attempts; try again`,
    { name, attempts },
  );

function describeViolation(violation: RowViolation): string {
  const [first] = violation.examples;
  const value = first?.value === null || first?.value === undefined ? "" : `${JSON.stringify(first.value)} `;
  const file = first?.file === undefined ? "" : ` of ${first.file}`;
  const where = first === undefined ? "" : `row ${first.row}${file}: ${value}`;
  const more = violation.count > 1 ? ` (${violation.count} rows)` : "";
  return `column ${violation.column}, ${where}${violation.rule}${more}`;
}
