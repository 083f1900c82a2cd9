import { RingmasterError } from "../errors";
import { formatBytes } from "../quantities";
import type { DatasetManifest } from "./shapes";

/** A rule of the schema and the rows that violate it. */
export interface RowViolation {
  readonly column: string;
  /** The rule, as a requirement: `must be a whole number`. */
  readonly rule: string;
  /** Number of rows that violate it. */
  readonly count: number;
  /**
   * The first violations. `row` counts from 1 in its file, and does not count a CSV file's header. `file` is given if
   * there are several.
   */
  readonly examples: readonly { readonly row: number; readonly value: unknown; readonly file?: string }[];
}

export class DatasetNotFoundError extends RingmasterError {
  constructor(name: string) {
    super(
      `there is no dataset ${JSON.stringify(name)}; \`ringmaster datasets push ${name} --file … --schema …\` creates it`,
      {
        code: "DATASET_NOT_FOUND",
        httpStatus: 404,
        details: { name },
      },
    );
  }
}

export class DatasetVersionNotFoundError extends RingmasterError {
  constructor(name: string, version: number, latest: number) {
    super(`dataset ${name} has no version ${version}; its latest is ${name}@${latest}`, {
      code: "DATASET_VERSION_NOT_FOUND",
      httpStatus: 404,
      details: { name, version, latest },
    });
  }
}

export class DatasetVersionDeprecatedError extends RingmasterError {
  constructor(name: string, version: number, reason: string) {
    super(
      `dataset ${name}@${version} is deprecated (${reason}); use ${name}@latest or another version that is not deprecated`,
      {
        code: "DATASET_VERSION_DEPRECATED",
        httpStatus: 409,
        details: { name, version, reason },
      },
    );
  }
}

/** Thrown when every version is deprecated, so that `latest` has no version. */
export class NoActiveVersionError extends RingmasterError {
  constructor(name: string) {
    super(`every version of dataset ${name} is deprecated, so ${name}@latest has no version; push a new version`, {
      code: "DATASET_WITHOUT_ACTIVE_VERSION",
      httpStatus: 409,
      details: { name },
    });
  }
}

export class EmptyDatasetError extends RingmasterError {
  constructor(what: string) {
    super(`${what} has no rows, but a dataset needs at least one; check that this is the right file`, {
      code: "EMPTY_DATASET",
      httpStatus: 400,
      details: { what },
    });
  }
}

/** Thrown when shards that are read together have more bytes than the disk has free. */
export class DatasetTooLargeError extends RingmasterError {
  constructor({ name, version, bytes }: Pick<DatasetManifest, "name" | "version" | "bytes">, roomBytes: number) {
    super(
      `dataset ${name}@${version} has ${formatBytes(bytes)} in its shards, and the disk on which they are read has ${formatBytes(roomBytes)} free (10 GB in a function on AWS); free disk space on this machine, or push fewer rows`,
      { code: "DATASET_TOO_LARGE", httpStatus: 400, details: { name, version, bytes, roomBytes } },
    );
  }
}

/** Thrown when the columns differ from those of the previous version and the push did not allow it. */
export class SchemaMismatchError extends RingmasterError {
  constructor(name: string, version: number, changes: readonly string[]) {
    super(
      `the schema differs from that of ${name}@${version}: ${changes.join("; ")}; ` +
        "push under another name, or with --allow-schema-change if the change is intended",
      { code: "SCHEMA_MISMATCH", httpStatus: 409, details: { name, version, changes } },
    );
  }
}

/** Thrown when rows violate the schema. */
export class InvalidRowsError extends RingmasterError {
  constructor(what: string, violations: readonly RowViolation[]) {
    super(
      `${what} does not match its schema: ${violations.map(describeViolation).join("; ")}; correct the rows or the schema`,
      {
        code: "INVALID_ROWS",
        httpStatus: 400,
        details: { violations },
      },
    );
  }
}

/** Thrown when a stored version cannot be used for training because its statistics break a rule. */
export class DatasetRejectedError extends RingmasterError {
  constructor(name: string, version: number, reasons: readonly string[]) {
    super(`dataset ${name}@${version} failed validation: ${reasons.join("; ")}; push a corrected version`, {
      code: "DATASET_REJECTED",
      httpStatus: 400,
      details: { name, version, reasons },
    });
  }
}

/** Thrown when a manifest contradicts itself or names content that was never uploaded. */
export class InvalidManifestError extends RingmasterError {
  constructor(name: string, reasons: readonly string[]) {
    super(`the manifest of dataset ${name} cannot be registered: ${reasons.join("; ")}; push again`, {
      code: "INVALID_DATASET_MANIFEST",
      httpStatus: 400,
      details: { name, reasons },
    });
  }
}

/** Thrown when rows were appended to a version that is no longer the newest. */
export class DatasetChangedError extends RingmasterError {
  constructor(name: string, parent: number, newest: number) {
    super(
      `the rows were appended to ${name}@${parent}, but the newest version is ${name}@${newest}; append them again, or push a whole file if the newest version is deprecated`,
      { code: "DATASET_CHANGED", httpStatus: 409, details: { name, parent, newest } },
    );
  }
}

/** Thrown when other registrations of the same dataset succeeded before each attempt. */
export class DatasetBusyError extends RingmasterError {
  constructor(name: string, attempts: number) {
    super(`dataset ${name} was changed by other registrations during each of ${attempts} attempts; try again`, {
      code: "DATASET_BUSY",
      httpStatus: 503,
      retryable: true,
      details: { name, attempts },
    });
  }
}

function describeViolation(violation: RowViolation): string {
  const [first] = violation.examples;
  const value = first?.value === null || first?.value === undefined ? "" : `${JSON.stringify(first.value)} `;
  const file = first?.file === undefined ? "" : ` of ${first.file}`;
  const where = first === undefined ? "" : `row ${first.row}${file}: ${value}`;
  const more = violation.count > 1 ? ` (${violation.count} rows)` : "";
  return `column ${violation.column}, ${where}${violation.rule}${more}`;
}
