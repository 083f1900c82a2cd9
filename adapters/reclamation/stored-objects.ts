import { DeleteObjectsCommand, ListObjectVersionsCommand, type S3Client } from "@aws-sdk/client-s3";
import { inParts } from "../../core/each-limited";
import { ObjectNotFoundError } from "../../core/object-documents";
import { teamsPrefix } from "../../core/object-keys";
import type { ListedObject, ReclamationObjects } from "../../core/reclamation/ports";
import { eraseObjects, listBucket, listVersions, objects } from "../../platform/permissions/grants";
import { sharedPort } from "../port";
import { createObjectStore, s3Client } from "../s3/object-store";

/** Enough to recognise a content's format, and for nearly every document. */
const firstRangeBytes = 64 * 1024;
const rangeBytes = 8 * 1024 * 1024;
/** S3's limit. */
const deletesPerCall = 1000;

export function createReclamationObjects(client: S3Client, bucket: string): ReclamationObjects {
  const store = createObjectStore(client, bucket);
  const range = (key: string, start: number, bytes: number): Promise<Uint8Array | undefined> =>
    store.getRange(key, start, bytes).catch((error: unknown) => {
      if (error instanceof ObjectNotFoundError) return undefined;
      throw error;
    });

  return {
    async list(after) {
      let marker = after;
      for (;;) {
        const page = await client.send(
          new ListObjectVersionsCommand({ Bucket: bucket, Prefix: teamsPrefix, KeyMarker: marker }),
        );
        const entries = (page.Versions ?? []).flatMap(({ Key, VersionId, IsLatest, LastModified, Size }) =>
          IsLatest && Key !== undefined && VersionId !== undefined && LastModified !== undefined
            ? [{ key: Key, version: VersionId, bytes: Size ?? 0, modified: LastModified.getTime() }]
            : [],
        );
        // A page may hold only older versions and the marks of deleted objects.
        if (entries.length > 0 || !page.IsTruncated) return entries;
        marker = page.NextKeyMarker ?? "";
      }
    },

    async read(key) {
      const first = await range(key, 0, firstRangeBytes);
      if (first === undefined) return undefined;
      return (async function* () {
        yield first;
        let next = first;
        for (let at = first.length; next.length > 0 && at % firstRangeBytes === 0; at += next.length) {
          next = (await range(key, at, rangeBytes)) ?? new Uint8Array(0);
          yield next;
        }
      })();
    },

    has: async (key) => (await store.size(key)) !== undefined,

    async erase(versions: readonly ListedObject[]) {
      for (const some of inParts(versions, deletesPerCall)) {
        const Objects = some.map(({ key, version }) => ({ Key: key, VersionId: version }));
        const { Errors = [] } = await client.send(
          new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }),
        );
        const [first] = Errors;
        if (first)
          throw new Error(`S3 did not delete ${Errors.length} objects: ${first.Key}: ${first.Code} ${first.Message}`);
      }
    },
  };
}

export const reclamationObjects = sharedPort({
  uses: { s3: s3Client() },
  grants: { collect: [objects("GetObject"), listBucket, listVersions, eraseObjects] },
  make: ({ s3 }, { config }) => createReclamationObjects(s3, config.bucket),
});
