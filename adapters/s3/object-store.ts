import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { CorruptObjectError, ObjectNotFoundError } from "../../core/object-documents";
import { objectKeys, teamPrefix } from "../../core/object-keys";
import type { Clock, ObjectStore } from "../../core/ports";
import { claimedMs } from "../../core/reclamation/ports";
import type { ContentReference } from "../../core/shapes";
import { listBucket, objects } from "../../platform/permissions/grants";
import { sharedPort, teamPort } from "../port";
import { BufferPool } from "./buffer-pool";
import { describeContent, partBytes, uploadInParts } from "./content-upload";
import { copyObject } from "./copy-object";
import { setPayloadHash } from "./payload-digest";
import { withRetries } from "./retries";
import {
  attemptsOf,
  damageOf,
  isConflict,
  isDenied,
  isMissing,
  isPreconditionFailure,
  isServerFailure,
  translated,
} from "./service-errors";
import { type FoundContent, findContent, isCutBody } from "./stored-content";

/** The size below which a check for existing content costs as much as sending it. */
const smallBytes = 64 * 1024;
/** The maximum number of parts in memory, for all streams of content together. */
const partsInFlight = 3;

const defaultType = "application/octet-stream";
const encrypted = { ServerSideEncryption: "AES256" } as const;

export interface ObjectStoreOptions {
  /**
   * Treat "access denied" to a read as "not found". S3 answers "access denied" for a missing object unless the caller
   * may list the whole bucket. A run's trainers may list only some prefixes, which does not count.
   */
  readonly deniedIsMissing?: boolean;
  readonly clock?: Clock;
}

/**
 * Creates an `ObjectStore` for the bucket, or for the objects under `prefix`. The client (its `maxAttempts`) retries
 * throttling, 5xx and broken connections. This store also retries `409 ConditionalRequestConflict`, which the client
 * does not.
 *
 * @throws StorageFullError from writes, if the store is full
 */
export function createObjectStore(
  client: S3Client,
  bucket: string,
  prefix = "",
  { deniedIsMissing = false, clock = { now: () => Date.now() } }: ObjectStoreOptions = {},
): ObjectStore {
  const missing = (error: unknown): boolean => isMissing(error) || (deniedIsMissing && isDenied(error));
  const at = (key: string) => ({ Bucket: bucket, Key: `${prefix}${key}` });
  const pool = new BufferPool(partBytes, partsInFlight);
  const store: ObjectStore = {
    async get(key) {
      const found = await store.find(key);
      if (found === undefined) throw new ObjectNotFoundError(key);
      return found;
    },

    async find(key, maxBytes) {
      return unlessMissing(missing, () => read(key, undefined, maxBytes));
    },

    async getRange(key, start, length) {
      if (length === 0) return new Uint8Array(0);
      try {
        return await read(key, `bytes=${start}-${start + length - 1}`);
      } catch (error) {
        if (missing(error)) throw new ObjectNotFoundError(key, error);
        if (error instanceof Error && error.name === "InvalidRange") return new Uint8Array(0);
        throw error;
      }
    },

    async size(key) {
      try {
        const head = await unlessMissing(missing, () => client.send(new HeadObjectCommand(at(key))));
        return head === undefined ? undefined : (head.ContentLength ?? 0);
      } catch (error) {
        // An answer to HEAD has no body. Only a read returns an error that names the damage.
        if (isServerFailure(error)) await read(key, "bytes=0-0");
        throw error;
      }
    },

    async put(key, body, contentType) {
      await withRetries(isConflict, () => write(key, body, contentType));
    },

    async putNew(key, body, contentType) {
      return withRetries(isConflict, async () => {
        try {
          await write(key, body, contentType, { IfNoneMatch: "*" });
          return true;
        } catch (error) {
          if (!isPreconditionFailure(error)) throw error;
          // The client's first attempt may have created the object and lost only the answer.
          return attemptsOf(error) > 1 && sameBytes(await store.find(key), body);
        }
      });
    },

    async putContent(body, contentType) {
      const digest = createHash("sha256").update(body).digest();
      const reference: ContentReference = { sha256: digest.toString("hex"), bytes: byteLength(body) };
      if (!(await isStored(reference))) await writeContent(reference, body, contentType);
      return reference;
    },

    async putContentStream(open, contentType = defaultType, place) {
      const { whole, ...description } = await describeContent(open(), pool);
      const { sha256, bytes } = description;
      const content: ContentReference = { sha256, bytes };
      try {
        const { key, stored } = (await place?.(content)) ?? {
          key: objectKeys.content(sha256),
          stored: await isStored(content, description.parts),
        };
        if (stored) return content;
        const reference = { ...content, key };
        if (whole) await writeContent(reference, whole.subarray(0, bytes), contentType);
        else {
          await createOrReplace(reference, description.parts, (condition) =>
            uploadInParts(client, at(key), description, open(), pool, {
              created: { ContentType: contentType, ...encrypted },
              condition,
            }),
          );
        }
      } finally {
        if (whole) pool.give(whole);
      }
      return content;
    },

    hasContent: (reference, how) => holds(reference, how === undefined ? [] : "any"),

    async claimContent(sha256) {
      const object = at(objectKeys.content(sha256));
      const head = await unlessMissing(missing, () => client.send(new HeadObjectCommand(object)));
      if (head === undefined) return undefined;
      const { ContentLength: bytes = 0, LastModified: modified, ContentType: contentType } = head;
      return (await claim({ sha256, bytes }, { modified, contentType })) ? bytes : undefined;
    },

    async getContent(sha256, key = objectKeys.content(sha256)) {
      const body = await store.get(key);
      const actual = createHash("sha256").update(body).digest("hex");
      if (actual !== sha256) throw new CorruptObjectError(key, `SHA-256 ${sha256}`, `${actual} (${body.length} bytes)`);
      return body;
    },

    async copyContent(content, from) {
      // The checksum of a source in parts does not prove its digest. So a copy never replaces content.
      if (await isClaimed(content, "any")) return true;
      if (!(await holds({ ...content, key: from }, "any"))) return false;
      const source = { ...content, key: `${prefix}${from}`, contentType: defaultType };
      try {
        await copyObject(client, bucket, source, `${prefix}${keyOf(content)}`, { condition: { IfNoneMatch: "*" } });
        return true;
      } catch (error) {
        if (isPreconditionFailure(error)) return isClaimed(content, "any");
        if (missing(error)) return false;
        throw error;
      }
    },

    async list(under) {
      const keys: string[] = [];
      let token: string | undefined;
      do {
        const page = await client.send(
          new ListObjectsV2Command({ Bucket: bucket, Prefix: `${prefix}${under}`, ContinuationToken: token }),
        );
        for (const { Key } of page.Contents ?? []) if (Key !== undefined) keys.push(Key.slice(prefix.length));
        token = page.IsTruncated ? page.NextContinuationToken : undefined;
      } while (token !== undefined);
      return keys;
    },

    async delete(key) {
      await client.send(new DeleteObjectCommand(at(key)));
    },

    async erase(key) {
      const head = await unlessMissing(missing, () => client.send(new HeadObjectCommand(at(key))));
      if (head === undefined) return;
      const { VersionId } = head;
      await client.send(new DeleteObjectCommand({ ...at(key), ...(VersionId === undefined ? {} : { VersionId }) }));
    },
  };

  async function read(key: string, range?: string, maxBytes = Number.POSITIVE_INFINITY): Promise<Uint8Array> {
    // A connection may break after the headers, when the client no longer retries.
    return withRetries(isCutBody, async () => {
      try {
        const answer = await client.send(
          new GetObjectCommand({ ...at(key), ...(range === undefined ? {} : { Range: range }) }),
        );
        const { Body: body, ContentLength: bytes = 0 } = answer;
        if (bytes > maxBytes) {
          // Ends the connection, so that the rest is not sent.
          (body as Readable | undefined)?.destroy();
          throw new CorruptObjectError(key, `at most ${maxBytes} bytes`, `${bytes} bytes`);
        }
        return (await body?.transformToByteArray()) ?? new Uint8Array(0);
      } catch (error) {
        const damage = damageOf(error);
        throw damage === undefined ? error : new CorruptObjectError(key, "the bytes that were stored", damage, error);
      }
    });
  }

  async function holds(reference: PlacedContent, parts: readonly Buffer[] | "any" = []): Promise<boolean> {
    return (await findContent(client, at(keyOf(reference)), reference, { missing, parts })) !== undefined;
  }

  async function isStored(reference: ContentReference, parts?: readonly Buffer[]): Promise<boolean> {
    return reference.bytes > smallBytes && (await isClaimed(reference, parts));
  }

  /** Tests whether the content exists, and keeps it from reclamation. */
  async function isClaimed(reference: PlacedContent, parts: readonly Buffer[] | "any" = []): Promise<boolean> {
    const found = await findContent(client, at(keyOf(reference)), reference, { missing, parts });
    return found !== undefined && (reference.key !== undefined || (await claim(reference, found)));
  }

  /**
   * Writes content again that has not been written for a day. Reclamation deletes only versions that are at least two
   * days old, so the new one stays while the caller stores its reference. Returns false if the content was deleted.
   */
  async function claim(content: ContentReference, { modified, contentType }: FoundContent): Promise<boolean> {
    if (modified !== undefined && clock.now() - modified.getTime() < claimedMs) return true;
    const key = `${prefix}${keyOf(content)}`;
    try {
      await copyObject(client, bucket, { ...content, key, contentType: contentType ?? defaultType }, key);
      return true;
    } catch (error) {
      if (missing(error)) return false;
      throw error;
    }
  }

  /**
   * Creates content under the condition that its name does not exist. An existing object with other content is
   * replaced, if the caller may replace it.
   * @throws CorruptObjectError if the caller may only create objects
   */
  async function createOrReplace(
    reference: PlacedContent,
    parts: readonly Buffer[] | undefined,
    send: (condition: { readonly IfNoneMatch?: "*" }) => Promise<void>,
  ): Promise<void> {
    try {
      // Trainers may only put content under a new name.
      await withRetries(isConflict, () => send({ IfNoneMatch: "*" }));
    } catch (error) {
      if (!isPreconditionFailure(error)) throw error;
      if (await isClaimed(reference, parts)) return;
      try {
        await withRetries(isConflict, () => send({}));
      } catch (refused) {
        if (!isDenied(refused)) throw refused;
        throw new CorruptObjectError(
          keyOf(reference),
          `SHA-256 ${reference.sha256}`,
          "other content, which this caller may not replace",
        );
      }
    }
  }

  async function writeContent(
    reference: PlacedContent,
    body: Uint8Array | string,
    contentType: string = defaultType,
  ): Promise<void> {
    const ChecksumSHA256 = Buffer.from(reference.sha256, "hex").toString("base64");
    await createOrReplace(reference, undefined, (condition) =>
      write(keyOf(reference), body, contentType, { ...condition, ChecksumSHA256 }),
    );
  }

  async function write(
    key: string,
    body: Uint8Array | string,
    contentType?: string,
    extra: { readonly IfNoneMatch?: string; readonly ChecksumSHA256?: string } = {},
  ): Promise<void> {
    const type = contentType === undefined ? {} : { ContentType: contentType };
    const command = new PutObjectCommand({ ...at(key), Body: body, ...type, ...encrypted, ...extra });
    if (extra.ChecksumSHA256 !== undefined)
      setPayloadHash(command, Buffer.from(extra.ChecksumSHA256, "base64").toString("hex"));
    await translated(key, () => client.send(command));
  }

  return store;
}

/** Content, and its key if that is not its name. */
type PlacedContent = ContentReference & { readonly key?: string };

function keyOf({ sha256, key = objectKeys.content(sha256) }: PlacedContent): string {
  return key;
}

async function unlessMissing<T>(
  missing: (error: unknown) => boolean,
  action: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await action();
  } catch (error) {
    if (missing(error)) return undefined;
    throw error;
  }
}

function byteLength(body: Uint8Array | string): number {
  return typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
}

function sameBytes(found: Uint8Array | undefined, body: Uint8Array | string): boolean {
  return found !== undefined && Buffer.from(found).equals(typeof body === "string" ? Buffer.from(body) : body);
}

/** The client of S3. */
export const s3Client = sharedPort({ make: () => new S3Client({}) });

export const teamObjects = teamPort({
  uses: { s3: s3Client() },
  grants: {
    // S3 answers 403 instead of 404 to a caller that may not list.
    read: [objects("GetObject"), listBucket],
    write: [objects("PutObject")],
    upload: [objects("AbortMultipartUpload")],
  },
  make: ({ s3 }, { config, team }) => createObjectStore(s3, config.bucket, teamPrefix(team)),
});
