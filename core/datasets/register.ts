import { createJson } from "../object-documents";
import { objectKeys } from "../object-keys";
import { type Clock, isoTime, type ObjectStore } from "../ports";
import type { ContentReference } from "../shapes";
import { datasetChanged, emptyDataset, invalidManifest, schemaMismatch } from "./errors";
import { schemaChanges, schemaHashOf, versionDigestOf } from "./identity";
import type { DatasetRepository } from "./repository";
import { assertDatasetSchema } from "./schema";
import { type DatasetDraft, type DatasetManifest, type DatasetVersion, splitNames, storedManifest } from "./shapes";

/**
 * Largest manifest. A version's row holds the whole manifest. DynamoDB accepts 400 KiB for a row, and its encoding of a
 * manifest is smaller than JSON.
 */
const maxManifestBytes = 400_000;

export interface RegisterDependencies {
  readonly repository: DatasetRepository;
  readonly objects: ObjectStore;
  readonly clock: Clock;
}

/**
 * Registers an uploaded draft as a version. Values that the client computed are computed again or looked up, so that a
 * registered manifest never contradicts itself and never names missing content.
 *
 * @throws EMPTY_DATASET, INVALID_DATASET_MANIFEST, SCHEMA_MISMATCH, InvalidInputError, DATASET_BUSY,
 * OBJECT_DIFFERS, DATASET_CHANGED
 */
export async function registerDataset(
  { repository, objects, clock }: RegisterDependencies,
  draft: DatasetDraft,
  options: { readonly allowSchemaChange?: () => Promise<boolean>; readonly actor?: string } = {},
): Promise<{ readonly created: boolean; readonly version: DatasetVersion }> {
  if (draft.rowCount === 0) throw emptyDataset(`dataset ${draft.name}`);
  assertDatasetSchema({ columns: draft.schema, split: draft.split }, `the schema of dataset ${draft.name}`);
  const reasons = contradictions(draft);
  if (reasons.length > 0) throw invalidManifest(draft.name, reasons);

  const existingVersion = await repository.findByDigest(draft.name, draft.digest);
  if (!existingVersion) {
    await assertContentThere(objects, draft);
    const newest = await repository.findNewest(draft.name);
    if (newest && newest.manifest.schemaHash !== draft.schemaHash && !(await options.allowSchemaChange?.())) {
      const changes = schemaChanges(newest.manifest.schema, draft.schema);
      throw schemaMismatch(draft.name, newest.manifest.version, changes);
    }
    if (draft.parent) {
      const { version } = draft.parent;
      if (newest?.manifest.version !== version) {
        throw datasetChanged(draft.name, version, newest?.manifest.version ?? 0);
      }
      assertFollows(newest.manifest, draft);
    }
  }
  const registered = existingVersion
    ? { created: false, version: existingVersion }
    : await repository.register(draft, { at: isoTime(clock), by: options.actor });
  await putManifestCopy(objects, registered.version.manifest);
  return registered;
}

/**
 * Writes the manifest's copy for readers of the bucket. The version's row is authoritative, and the copy is written
 * after it. If a push dies between the two writes, its repetition or the first validation writes the copy.
 *
 * @throws OBJECT_DIFFERS if the existing copy is another manifest
 */
export async function putManifestCopy(objects: ObjectStore, manifest: DatasetManifest): Promise<void> {
  const key = objectKeys.datasetManifest(manifest.name, manifest.version);
  await createJson(objects, key, storedManifest, manifest, { indent: 2 });
}

/** Most versions of a dataset whose columns can still be corrected. */
export const maxDraftVersions = 10;

/** Tests whether columns may change without permission: no run has read any of the dataset's few versions. */
export async function mayCorrectColumns<Version>(
  versions: readonly Version[],
  hasRuns: (version: Version) => Promise<boolean>,
): Promise<boolean> {
  if (versions.length > maxDraftVersions) return false;
  return !(await Promise.all(versions.map(hasRuns))).includes(true);
}

function contradictions(draft: DatasetDraft): readonly string[] {
  const reasons: string[] = [];
  const expectEqual = (what: string, claimed: unknown, total: unknown): void => {
    if (claimed !== total) reasons.push(`${what} is ${claimed}, but the sum of its parts is ${total}`);
  };
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);
  expectEqual("rowCount", draft.rowCount, sum(draft.shards.map(({ rows }) => rows)));
  expectEqual("rowCount", draft.rowCount, sum(splitNames.map((split) => draft.split.indexes[split].rows)));
  expectEqual("bytes", draft.bytes, sum(draft.shards.map(({ bytes }) => bytes)));
  for (const split of splitNames) {
    const { rows, bytes } = draft.split.indexes[split];
    expectEqual(`split ${split}'s index size`, bytes, rows * 4);
  }
  expectEqual("schemaHash", draft.schemaHash, schemaHashOf(draft.schema));
  expectEqual("digest", draft.digest, versionDigestOf(draft));
  const bytes = new TextEncoder().encode(JSON.stringify(draft)).length;
  if (bytes > maxManifestBytes) {
    reasons.push(
      `it has ${bytes} bytes, but must have at most ${maxManifestBytes}: name fewer columns or values in the schema, or make larger shards`,
    );
  }
  return reasons;
}

async function assertContentThere(objects: ObjectStore, draft: DatasetDraft): Promise<void> {
  const reasons: string[] = [];
  for (const { sha256, bytes } of contentOf(draft)) {
    const size = await objects.claimContent(sha256);
    if (size === undefined) reasons.push(`content ${sha256} was not uploaded`);
    else if (size !== bytes) reasons.push(`content ${sha256} has ${size} bytes, not ${bytes}`);
  }
  if (reasons.length > 0) throw invalidManifest(draft.name, reasons);
}

/** Lists everything in the content store that a draft refers to. */
function contentOf(draft: Pick<DatasetDraft, "shards" | "split">): readonly ContentReference[] {
  return [...draft.shards, ...splitNames.map((split) => draft.split.indexes[split])];
}

/**
 * Checks that an appended draft has its parent's columns, split rule and shards, followed by others.
 *
 * @throws INVALID_DATASET_MANIFEST
 */
function assertFollows(parent: DatasetManifest, draft: DatasetDraft): void {
  const name = `${parent.name}@${parent.version}`;
  const reasons: string[] = [];
  if (draft.parent?.digest !== parent.digest) reasons.push(`it names ${name} as its parent with another digest`);
  if (draft.schemaHash !== parent.schemaHash) reasons.push(`its columns are not those of its parent ${name}`);
  if (parent.shards.some(({ sha256 }, index) => draft.shards[index]?.sha256 !== sha256)) {
    reasons.push(`it does not begin with the shards of its parent ${name}`);
  }
  if (draft.shards.length <= parent.shards.length) reasons.push(`it adds no shard to its parent ${name}`);
  if (reasons.length > 0) throw invalidManifest(draft.name, reasons);
}

/**
 * Tests whether a version was made by appending these shards to its parent. A repeated append then finds the version
 * instead of adding its rows twice.
 */
export function wasAppended(
  { parent, shards, rowCount }: DatasetManifest,
  added: readonly { readonly sha256: string; readonly rows: number }[],
): boolean {
  if (parent === undefined) return false;
  const last = shards.slice(-added.length);
  const before = rowCount - added.reduce((sum, { rows }) => sum + rows, 0);
  return parent.rows === before && last.every(({ sha256 }, index) => sha256 === added[index]!.sha256);
}
