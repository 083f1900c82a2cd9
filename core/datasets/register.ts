import { isoTime } from "../clock";
import { createJson } from "../object-documents";
import { objectKeys } from "../object-keys";
import type { Clock, ContentReference, ObjectStore } from "../ports";
import { EmptyDatasetError, InvalidManifestError, SchemaMismatchError } from "./errors";
import { type DatasetDraft, schemaChanges, schemaHashOf, versionDigestOf } from "./identity";
import { type DatasetManifest, splitNames } from "./manifest";
import type { DatasetRepository, DatasetVersion } from "./repository";
import { assertDatasetSchema } from "./schema";

/** A version's row holds its whole manifest; DynamoDB takes 400 KiB a row, and spends less on a manifest than JSON does. */
const maxManifestBytes = 400_000;

export interface RegisterDependencies {
  readonly repository: DatasetRepository;
  readonly objects: ObjectStore;
  readonly clock: Clock;
}

/**
 * Makes an uploaded draft a version. What the client computed is computed again or looked up: a registered manifest never contradicts
 * itself and never names content that is not there.
 *
 * @throws EmptyDatasetError, InvalidManifestError, SchemaMismatchError, InvalidInputError, DatasetBusyError, ObjectDiffersError
 */
export async function registerDataset(
  { repository, objects, clock }: RegisterDependencies,
  draft: DatasetDraft,
  options: { readonly allowSchemaChange?: boolean; readonly actor?: string } = {},
): Promise<{ readonly created: boolean; readonly version: DatasetVersion }> {
  if (draft.rowCount === 0) throw new EmptyDatasetError(`dataset ${draft.name}`);
  assertDatasetSchema({ columns: draft.schema, split: draft.split }, `the schema of dataset ${draft.name}`);
  const reasons = contradictions(draft);
  if (reasons.length > 0) throw new InvalidManifestError(draft.name, reasons);

  const known = await repository.findByDigest(draft.name, draft.digest);
  if (!known) {
    await assertContentThere(objects, draft);
    const newest = await repository.findNewest(draft.name);
    if (newest && newest.manifest.schemaHash !== draft.schemaHash && !options.allowSchemaChange) {
      const changes = schemaChanges(newest.manifest.schema, draft.schema);
      throw new SchemaMismatchError(draft.name, newest.manifest.version, changes);
    }
  }
  const registered = known
    ? { created: false, version: known }
    : await repository.register(draft, { at: isoTime(clock), by: options.actor });
  await putManifestCopy(objects, registered.version.manifest);
  return registered;
}

/**
 * The version's row is the truth; the object is its copy for readers of the bucket, written after. Where a push died between the two, its
 * repetition mends it, and so does the validation of the version's first run.
 *
 * @throws ObjectDiffersError where the copy is another manifest
 */
export async function putManifestCopy(objects: ObjectStore, manifest: DatasetManifest): Promise<void> {
  const key = objectKeys.datasetManifest(manifest.name, manifest.version);
  await createJson(objects, key, manifest, { indent: 2 });
}

function contradictions(draft: DatasetDraft): readonly string[] {
  const reasons: string[] = [];
  const expectEqual = (what: string, claimed: unknown, found: unknown): void => {
    if (claimed !== found) reasons.push(`${what} is ${claimed}, but the sum of its parts is ${found}`);
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
    const size = await objects.size(objectKeys.content(sha256));
    if (size === undefined) reasons.push(`content ${sha256} was not uploaded`);
    else if (size !== bytes) reasons.push(`content ${sha256} has ${size} bytes, not ${bytes}`);
  }
  if (reasons.length > 0) throw new InvalidManifestError(draft.name, reasons);
}

/** Everything that a draft names in the content store. */
function contentOf(draft: Pick<DatasetDraft, "shards" | "split">): readonly ContentReference[] {
  return [...draft.shards, ...splitNames.map((split) => draft.split.indexes[split])];
}
