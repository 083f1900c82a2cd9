import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { inParts } from "../../core/each-limited";
import { teamsPrefix } from "../../core/object-keys";
import type { ListedObject, ReclamationObjects } from "../../core/reclamation/ports";
import { eraseObjects, listBucket, listVersions, objects } from "../../platform/permissions/grants";
import { sharedPort } from "../port";
import { s3Client } from "../s3/object-store";
import { isMissing, withRetries } from "../s3/service-errors";
import { isCutBody } from "../s3/stored-content";
import { type Credentials, Signer } from "../signer";

/** The address to which the SDK sends requests for objects of a bucket. */
interface Place {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  /** The path before the key. */
  readonly base: string;
}

interface SentRequest extends Omit<Place, "base"> {
  readonly path: string;
}

interface Answer {
  readonly statusCode: number;
  readonly body: AsyncIterable<Buffer>;
}

/** Reads bytes `[start, start + length)` of an object; `undefined` if the SDK must repeat the request. */
type LeanGet = (key: string, start: number, length: number) => Promise<Uint8Array | undefined>;

/**
 * Reads objects of a bucket with a third of the SDK's processor time. It uses the SDK's connections, credentials and
 * region, and its own signature. It makes one attempt, and answers only with complete bytes of a successful one. The
 * first request of the SDK shows the address of the bucket.
 */
function createLeanGet(client: S3Client): LeanGet {
  const signer = new Signer("s3");
  let place: Place | undefined;
  client.middlewareStack.add(
    (next) => (args) => {
      const key = (args.input as { readonly Key?: string }).Key;
      if (key !== undefined) place ??= placeOf(args.request as SentRequest, key);
      return next(args);
    },
    { step: "build", name: "ringmasterLearnsBucket", override: true },
  );

  return async (key, start, length) => {
    if (!place) return undefined;
    const { base, ...to } = place;
    const { config } = client;
    const [credentials, region] = await Promise.all([config.credentials() as Promise<Credentials>, config.region()]);
    const path = `${base}${encodedKey(key)}`;
    const host = to.port === undefined ? to.hostname : `${to.hostname}:${to.port}`;
    const range = `bytes=${start}-${start + length - 1}`;
    const headers = signer.signGet({ host, path, range }, credentials, region, new Date());
    try {
      const sent = { ...to, method: "GET", path, headers, query: {} };
      const { response } = (await config.requestHandler.handle(sent as never)) as unknown as { response: Answer };
      const chunks: Buffer[] = [];
      for await (const chunk of response.body) chunks.push(chunk);
      return response.statusCode === 206 ? Buffer.concat(chunks) : undefined;
    } catch {
      return undefined;
    }
  };
}

function placeOf({ protocol, hostname, port, path }: SentRequest, key: string): Place | undefined {
  const end = encodedKey(key);
  if (!path.endsWith(`/${end}`)) return undefined;
  const base = path.slice(0, path.length - end.length);
  return { protocol, hostname, base, port };
}

/** Encodes a key like the signature's canonical path. */
function encodedKey(key: string): string {
  const encode = (part: string) =>
    encodeURIComponent(part).replace(
      /[!'()*]/g,
      (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  return key.split("/").map(encode).join("/");
}

/** Enough to recognise a content's format, and for nearly every document. */
const firstRangeBytes = 64 * 1024;
const rangeBytes = 8 * 1024 * 1024;
/** S3's limit. */
const deletesPerCall = 1000;

/** Reads and deletes the objects of all teams. */
export function createReclamationObjects(client: S3Client, bucket: string): ReclamationObjects {
  const leanGet = createLeanGet(client);

  async function range(key: string, start: number, bytes: number): Promise<Uint8Array | undefined> {
    const found = await leanGet(key, start, bytes);
    if (found) return found;
    return withRetries(isCutBody, async () => {
      try {
        const Range = `bytes=${start}-${start + bytes - 1}`;
        const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key, Range }));
        return (await Body?.transformToByteArray()) ?? new Uint8Array(0);
      } catch (error) {
        if (error instanceof Error && error.name === "InvalidRange") return new Uint8Array(0);
        if (isMissing(error)) return undefined;
        throw error;
      }
    });
  }

  return {
    async list(after) {
      let marker = after;
      for (;;) {
        const page = await client.send(
          new ListObjectVersionsCommand({ Bucket: bucket, Prefix: teamsPrefix, KeyMarker: marker }),
        );
        const found = (page.Versions ?? []).flatMap(({ Key, VersionId, IsLatest, LastModified, Size }) =>
          IsLatest && Key !== undefined && VersionId !== undefined && LastModified !== undefined
            ? [{ key: Key, version: VersionId, bytes: Size ?? 0, modified: LastModified.getTime() }]
            : [],
        );
        // A page may hold only older versions and the marks of deleted objects.
        if (found.length > 0 || !page.IsTruncated) return found;
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

    async has(key) {
      try {
        await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
        return true;
      } catch (error) {
        if (isMissing(error)) return false;
        throw error;
      }
    },

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
