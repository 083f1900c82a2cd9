import { createHash } from "node:crypto";
import { basename, dirname, resolve } from "node:path";
import type { ColumnProfile } from "../../core/datasets/profile";
import { wasAppended } from "../../core/datasets/register";
import type { DatasetSchema } from "../../core/datasets/schema";
import type { DatasetDraft, DatasetVersion, SourceFile } from "../../core/datasets/shapes";
import { readSplits } from "../../core/datasets/split-index";
import { judge } from "../../core/datasets/validation";
import type { ObjectStore, UploadPort, UploadSource } from "../../core/ports";
import type { ContentReference, Warning } from "../../core/shapes";
import { createBuffer, referenceOf } from "../files/reference";
import { withOrigins } from "./column-origins";
import type { CheckedRows } from "./contract/check";
import { profileDataset } from "./dataset-profile";
import type { TargetSize } from "./formats/image-header";
import type { DuckDbSession } from "./session";
import { fetchAllShards } from "./shard-source";
import { createSnapshot, type ParentRows, type Snapshot, type SnapshotPhase } from "./snapshot";
import type { DataFiles, Source } from "./source";
import { withDuckDb } from "./workspace";

export type PushProgress =
  | { readonly phase: SnapshotPhase }
  | {
      readonly phase: "uploading";
      readonly bytes: number;
      readonly sentBytes: number;
      /** The bytes of content that the store already had. */
      readonly knownBytes: number;
    }
  | { readonly phase: "profiling" | "registering" };

export interface PushFileOptions<Registered> {
  readonly name: string;
  readonly file: DataFiles;
  readonly size?: TargetSize | undefined;
  readonly schema: DatasetSchema;
  /** The newest version, to which the file's rows are appended, and its contents. */
  readonly append?: { readonly version: DatasetVersion; readonly contents: Pick<ObjectStore, "getContent"> };
  readonly uploads: UploadPort;
  /**
   * Checks the rows before anything is uploaded, and returns warnings. Throws if the rows may not become a version.
   */
  readonly check?: ((rows: CheckedRows, digest: string) => Promise<readonly Warning[]>) | undefined;
  /**
   * Registers the uploaded draft as a version, or finds the existing equal version. Records the files that it was made
   * from.
   */
  readonly register: (
    draft: DatasetDraft,
    sources: readonly SourceFile[],
    warnings: readonly Warning[],
  ) => Promise<Registered>;
  readonly onProgress?: (progress: PushProgress) => void;
  /** Names a file in the record of sources; by default its base name. */
  readonly nameOf?: ((path: string) => string) | undefined;
}

export interface PushResult<Registered> {
  readonly registered: Registered;
  readonly draft: DatasetDraft;
  readonly ignoredColumns: readonly string[];
  readonly warnings: readonly Warning[];
  /** The statistics of the columns; absent if the rows are those of an earlier push. */
  readonly profiles?: readonly ColumnProfile[];
}

/**
 * Pushes a file as a dataset version. Rows are written as canonical shards on the local disk, content that the store
 * lacks is uploaded, and the draft is registered last. An interrupted push can be repeated, and uploaded content is not
 * sent again.
 *
 * @throws InvalidInputError, EMPTY_DATASET, INVALID_ROWS, DiskFullError, and the errors of `check`, `uploads` and
 * `register`
 */
export async function pushFile<Registered>(options: PushFileOptions<Registered>): Promise<PushResult<Registered>> {
  const { name, file, size, onProgress = () => undefined } = options;
  return withDuckDb(async (session) => {
    const schema = await withOrigins(session, file, options.schema, options.append !== undefined);
    const parent = options.append && (await fetchParent(session, options.append));
    const snapshot = await createSnapshot(session, { name, file, size, schema, parent }, (phase) =>
      onProgress({ phase }),
    );
    const rows = snapshot.shards.reduce((sum, shard) => sum + shard.rows, 0);
    const register = async (
      draft: DatasetDraft,
      warnings: readonly Warning[],
      profiles?: readonly ColumnProfile[],
    ): Promise<PushResult<Registered>> => {
      onProgress({ phase: "registering" });
      const sources = await sourcesOf(snapshot.source, rows, options.nameOf ?? basename);
      const registered = await options.register(draft, sources, warnings);
      const { ignoredColumns } = snapshot;
      return { registered, draft, ignoredColumns, warnings, profiles };
    };
    const { version } = options.append ?? {};
    // An earlier push has appended the rows. Its version is registered again, which finds it.
    if (version && wasAppended(version.manifest, snapshot.shards)) {
      const { version: _, createdAt: __, ...draft } = version.manifest;
      return register(draft, version.warnings ?? []);
    }
    const { schema: columns, rowCount, digest } = snapshot.draft;
    const files = [...(parent?.files ?? []), ...snapshot.shards.map(({ path }) => path)];
    const findings = (await options.check?.({ schema: columns, rowCount, files }, digest)) ?? [];
    const sources = new Map<string, UploadSource>([
      ...snapshot.shards.map(({ sha256, path }) => [sha256, { path }] as const),
      ...[...snapshot.indexes].map(([sha256, bytes]) => [sha256, { bytes }] as const),
    ]);
    const references = [...snapshot.shards, ...Object.values(snapshot.draft.split.indexes)];
    await upload(options.uploads, references, sources, onProgress);
    onProgress({ phase: "profiling" });
    const { warnings, profiles } = await judged(session, snapshot);
    return register(snapshot.draft, [...warnings, ...folderWarnings(snapshot.source), ...findings], profiles);
  });
}

async function fetchParent(
  session: DuckDbSession,
  { version: { manifest }, contents }: NonNullable<PushFileOptions<unknown>["append"]>,
): Promise<ParentRows> {
  const files = await fetchAllShards(session, contents, manifest);
  return { manifest, files, splitOf: await readSplits(manifest, contents) };
}

/** Returns the warnings about a snapshot's rows, by the rules of a run's validation, and the columns' statistics. */
async function judged(
  session: DuckDbSession,
  { draft }: Snapshot,
): Promise<{ readonly warnings: readonly Warning[]; readonly profiles: readonly ColumnProfile[] }> {
  const profile = await profileDataset(session, "canonical", { ...draft, version: 0 });
  const { errors, warnings } = judge(draft, profile);
  const refused = errors.map((message) => ({ code: "NOT_TRAINABLE", message: `${message}; runs refuse it` }));
  return { warnings: [...refused, ...warnings], profiles: profile.columns };
}

const splitFolder = /^(train|training|val|valid|validation|dev|test|testing)$/i;

/** Warns of `train/<class>/…` next to `val/<class>/…`: other tools read them as splits, and here they are one dataset. */
function* folderWarnings({ files, columns }: Source): Generator<Warning> {
  if (columns === undefined) return; // Only images and texts have classes by folder.
  const distinct = new Set(files.map((file) => basename(dirname(dirname(resolve(file))))));
  const folders = [...distinct].filter((name) => splitFolder.test(name)).sort();
  if (folders.length < 2) return;
  yield {
    code: "SPLIT_FOLDERS_MERGED",
    message: `the rows of the folders ${folders.join(", ")} are merged, and the schema's split divides them again; to evaluate on the rows of one folder, push each folder as a dataset of its own`,
  };
}

/** The maximum number of files that are recorded one by one. */
const maxSources = 100;

/**
 * Returns the raw files with their digests, by which lineage finds the version even if they no longer exist. More than
 * 100 are one entry, whose digest is over theirs in their order.
 */
async function sourcesOf(
  source: Source,
  rows: number,
  nameOf: (path: string) => string,
): Promise<readonly SourceFile[]> {
  const { files } = source;
  const counts = files.length === 1 ? [rows] : files.length <= maxSources ? await source.countRows() : [];
  const whole = createHash("sha256");
  const buffer = createBuffer();
  const sources: SourceFile[] = [];
  let bytes = 0;
  for (const [index, path] of files.entries()) {
    const file = { file: nameOf(path).slice(-1_024), ...(await referenceOf(path, buffer)) };
    whole.update(`${file.sha256}\n`);
    bytes += file.bytes;
    if (counts.length > 0) sources.push({ ...file, rows: counts[index]! });
  }
  return sources.length > 0 ? sources : [{ file: source.name.slice(-1_024), sha256: whole.digest("hex"), bytes, rows }];
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
