import * as fs from "node:fs";
import { createSnapshot, type SnapshotPhase } from "../../adapters/duckdb/snapshot";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import type { DatasetDraft } from "../../core/datasets/identity";
import { parseDatasetSchema } from "../../core/datasets/schema";
import type { UploadPort, UploadSource } from "../../core/datasets/upload-port";
import { InvalidInputError } from "../../core/errors";
import type { ContentReference } from "../../core/ports";

export type PushProgress =
  | { readonly phase: SnapshotPhase }
  | {
      readonly phase: "uploading";
      readonly bytes: number;
      readonly sentBytes: number;
      /** Content that the store had already. */
      readonly knownBytes: number;
    }
  | { readonly phase: "registering" };

export interface PushOptions<Registered> {
  readonly name: string;
  /** CSV, Parquet or JSON. */
  readonly file: string;
  readonly schemaFile: string;
  readonly uploads: UploadPort;
  /** Makes the uploaded draft a version, or finds the version that it already is. */
  readonly register: (draft: DatasetDraft) => Promise<Registered>;
  readonly onProgress?: (progress: PushProgress) => void;
}

export interface PushResult<Registered> {
  readonly registered: Registered;
  readonly draft: DatasetDraft;
  readonly ignoredColumns: readonly string[];
}

/**
 * The client's part of `ringmaster datasets push`: rows become canonical shards on the local disk, content that the store lacks is sent, and
 * the draft is registered last. Interrupted anywhere, it is repeated whole; what was sent is not sent again.
 *
 * @throws InvalidInputError, EmptyDatasetError, InvalidRowsError, DiskFullError, and what `uploads` and `register` reject with.
 */
export async function pushDataset<Registered>(options: PushOptions<Registered>): Promise<PushResult<Registered>> {
  const { name, file, schemaFile, onProgress = () => undefined } = options;
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(name)) {
    throw new InvalidInputError("the dataset cannot be pushed", [
      {
        path: "name",
        value: name,
        rule: "must be 1–63 lower-case letters, digits and hyphens, starting with a letter or digit",
      },
    ]);
  }
  const schema = parseDatasetSchema(readSchema(schemaFile), schemaFile);
  return withDuckDb(async (session) => {
    const snapshot = await createSnapshot(session, { name, file, schema }, (phase) => onProgress({ phase }));
    const sources = new Map<string, UploadSource>([
      ...snapshot.shards.map(({ sha256, path }) => [sha256, { path }] as const),
      ...[...snapshot.indexes].map(([sha256, bytes]) => [sha256, { bytes }] as const),
    ]);
    const references = [...snapshot.draft.shards, ...Object.values(snapshot.draft.split.indexes)];
    await upload(options.uploads, references, sources, onProgress);
    onProgress({ phase: "registering" });
    const registered = await options.register(snapshot.draft);
    return { registered, draft: snapshot.draft, ignoredColumns: snapshot.ignoredColumns };
  });
}

async function upload(
  uploads: UploadPort,
  references: readonly ContentReference[],
  sources: ReadonlyMap<string, UploadSource>,
  onProgress: (progress: PushProgress) => void,
): Promise<void> {
  const distinct = [...new Map(references.map(({ sha256, bytes }) => [sha256, { sha256, bytes }])).values()];
  const missing = new Set(await uploads.missing(distinct));
  const sum = (some: readonly ContentReference[]): number => some.reduce((total, { bytes }) => total + bytes, 0);
  const toSend = distinct.filter(({ sha256 }) => missing.has(sha256));
  const bytes = sum(distinct);
  const knownBytes = bytes - sum(toSend);
  let sentBytes = 0;
  onProgress({ phase: "uploading", bytes, sentBytes, knownBytes });
  for (const reference of toSend) {
    await uploads.put(reference, sources.get(reference.sha256)!);
    sentBytes += reference.bytes;
    onProgress({ phase: "uploading", bytes, sentBytes, knownBytes });
  }
}

function readSchema(file: string): string {
  try {
    return fs.readFileSync(file, "utf8");
  } catch (cause) {
    const rule = "must be a file that can be read";
    throw new InvalidInputError("the schema file cannot be used", [{ path: "schema", value: file, rule }], cause);
  }
}
