// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type { ColumnSchema, Instant, Sha256, Warning } from "./shared";

/** A version before it has a number; `ringmaster datasets push` makes it. */
export interface DatasetDraft {
  readonly name: string;
  /** SHA-256 over schema, shards and split: equal content is the same version. */
  readonly digest: Sha256;
  readonly schema: readonly ColumnSchema[];
  /** SHA-256 over column names and types. */
  readonly schemaHash: Sha256;
  readonly rowCount: number;
  readonly bytes: number;
  /** Parquet, in row order, in the content store. */
  readonly shards: readonly {
    readonly sha256: Sha256;
    readonly bytes: number;
    readonly rows: number;
  }[];
  readonly split: {
    readonly seed: number;
    readonly fractions: {
      readonly train: number;
      readonly validation: number;
      readonly test: number;
    };
    readonly stratifyBy?: string;
    readonly indexes: {
      readonly train: {
        readonly sha256: Sha256;
        readonly bytes: number;
        readonly rows: number;
      };
      readonly validation: {
        readonly sha256: Sha256;
        readonly bytes: number;
        readonly rows: number;
      };
      readonly test: {
        readonly sha256: Sha256;
        readonly bytes: number;
        readonly rows: number;
      };
    };
  };
}

export interface DatasetManifest {
  readonly name: string;
  /** SHA-256 over schema, shards and split: equal content is the same version. */
  readonly digest: Sha256;
  readonly schema: readonly ColumnSchema[];
  /** SHA-256 over column names and types. */
  readonly schemaHash: Sha256;
  readonly rowCount: number;
  readonly bytes: number;
  /** Parquet, in row order, in the content store. */
  readonly shards: readonly {
    readonly sha256: Sha256;
    readonly bytes: number;
    readonly rows: number;
  }[];
  readonly split: {
    readonly seed: number;
    readonly fractions: {
      readonly train: number;
      readonly validation: number;
      readonly test: number;
    };
    readonly stratifyBy?: string;
    readonly indexes: {
      readonly train: {
        readonly sha256: Sha256;
        readonly bytes: number;
        readonly rows: number;
      };
      readonly validation: {
        readonly sha256: Sha256;
        readonly bytes: number;
        readonly rows: number;
      };
      readonly test: {
        readonly sha256: Sha256;
        readonly bytes: number;
        readonly rows: number;
      };
    };
  };
  readonly version: number;
  readonly createdAt: Instant;
}

/** Datasets by name. */
export interface DatasetPage {
  readonly items: readonly DatasetSummary[];
  /** Opaque; absent on the last page. */
  readonly nextToken?: string;
}

export interface DatasetRegistration {
  readonly created: boolean;
  readonly version: DatasetVersion;
}

export interface DatasetRegistrationRequest {
  readonly draft: DatasetDraft;
  /** Columns may differ from the version before. */
  readonly allowSchemaChange?: boolean;
  /** The raw files that it was made of, in the order of their rows; kept for lineage. */
  readonly sources?: readonly SourceFile[];
  /** What the pusher found in the rows; the validation of a run replaces it. */
  readonly warnings?: readonly Warning[];
}

export interface DatasetSummary {
  readonly name: string;
  readonly latestVersion: number;
  readonly rowCount: number;
  readonly bytes: number;
  readonly updatedAt: Instant;
  /** Who registered the latest version. */
  readonly updatedBy?: string;
}

/** An immutable version of a dataset. */
export interface DatasetVersion {
  readonly manifest: DatasetManifest;
  readonly team: string;
  /** Who registered it; absent in versions of earlier releases. */
  readonly createdBy?: string;
  /** Duplicates, leakage and the like; found by its push, then by validation. */
  readonly warnings?: readonly Warning[];
  /** No new run may use it. */
  readonly deprecation?: {
    readonly at: Instant;
    readonly reason: string;
    readonly by?: string;
  };
}

export interface DatasetVersionAnswer {
  readonly version: DatasetVersion;
}

/** Versions, newest first. */
export interface DatasetVersionPage {
  readonly items: readonly DatasetVersion[];
  /** Opaque; absent on the last page. */
  readonly nextToken?: string;
}

export interface DeprecationRequest {
  readonly reason?: string;
}

/** Reports, the newest file first. */
export interface InboxPage {
  readonly items: readonly InboxReport[];
  /** Opaque; absent on the last page. */
  readonly nextToken?: string;
}

/** What became of a file that was put into the inbox. */
export interface InboxReport {
  readonly id: string;
  /** Below the team's inbox: `<dataset>/<file>`. */
  readonly path: string;
  /** Absent where the path names none. */
  readonly dataset?: string;
  readonly etag: string;
  readonly bytes: number;
  readonly sequencer: string;
  readonly putAt: Instant;
  readonly updatedAt: Instant;
  readonly status: "reading" | "taken" | "refused" | "retried";
  readonly tries: number;
  readonly lastError?: string;
  /** Of `taken`: the version that the file is. */
  readonly version?: number;
  /** False where an earlier version has the same content. */
  readonly created?: boolean;
  readonly rowCount?: number;
  /** Columns of the file that the dataset's schema does not name. */
  readonly ignoredColumns?: readonly string[];
  /** Of `refused`, as of errors. */
  readonly code?: string;
  readonly reason?: string;
  /** What the file's owner does about it. */
  readonly nextStep?: string;
}

export interface InboxReportAnswer {
  readonly report: InboxReport;
}

/** A raw file, and how many of the version's rows it gave. */
export interface SourceFile {
  readonly file: string;
  readonly sha256: Sha256;
  readonly bytes: number;
  readonly rows: number;
}
