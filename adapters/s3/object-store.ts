import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from "@aws-sdk/client-s3";
import { CorruptObjectError, ObjectNotFoundError } from "../../core/object-documents";
import { objectKeys, teamPrefix } from "../../core/object-keys";
import type { Clock, ObjectStore } from "../../core/ports";
import { claimedMs } from "../../core/reclamation/ports";
import type { ContentReference } from "../../core/shapes";
import { listBucket, objects } from "../../platform/permissions/grants";
import { sharedPort, teamPort } from "../port";
import { copyObject } from "./copy-object";
import {
  attemptsOf,
  isConflict,
  isCutBody,
  isDenied,
  isMissing,
  isPastEnd,
  isPreconditionFailure,
  isServerFailure,
  readError,
  translated,
  withRetries,
} from "./service-errors";
import { type FoundContent, findContent } from "./stored-content";
import { BufferPool, describeContent, partBytes, setPayloadHash, uploadInParts } from "./uploads";

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
 * @throws StorageFullError from writes, if the store is full
 */
export function createObjectStore(
  client: S3Client,
  bucket: string,
  prefix = "",
  { deniedIsMissing = false, clock = { now: () => Date.now() } }: ObjectStoreOptions = {},
): ObjectStore {
  return new S3ObjectStore(client, bucket, prefix, deniedIsMissing, clock);
}

/** Its operations are properties, because a caller may replace some of them in a copy. */
class S3ObjectStore implements ObjectStore {
  private readonly pool = new BufferPool(partBytes, partsInFlight);

  constructor(
    private readonly client: S3Client,
    private readonly bucket: string,
    private readonly prefix: string,
    private readonly deniedIsMissing: boolean,
    private readonly clock: Clock,
  ) {}

  readonly get: ObjectStore["get"] = async (key) => {
    const body = await this.find(key);
    if (body === undefined) throw new ObjectNotFoundError(key);
    return body;
  };

  readonly find: ObjectStore["find"] = (key, maxBytes) => this.unlessMissing(() => this.read(key, undefined, maxBytes));

  readonly getRange: ObjectStore["getRange"] = async (key, start, length) => {
    if (length === 0) return new Uint8Array(0);
    try {
      return await this.read(key, `bytes=${start}-${start + length - 1}`);
    } catch (error) {
      if (this.isMissing(error)) throw new ObjectNotFoundError(key, error);
      if (isPastEnd(error)) return new Uint8Array(0);
      throw error;
    }
  };

  readonly size: ObjectStore["size"] = async (key) => {
    try {
      const head = await this.head(key);
      return head && (head.ContentLength ?? 0);
    } catch (error) {
      // An answer to HEAD has no body. Only a read returns an error that names the damage.
      if (isServerFailure(error)) await this.read(key, "bytes=0-0");
      throw error;
    }
  };

  readonly put: ObjectStore["put"] = (key, body, contentType) =>
    withRetries(isConflict, () => this.write(key, body, contentType));

  readonly putNew: ObjectStore["putNew"] = (key, body, contentType) =>
    withRetries(isConflict, async () => {
      try {
        await this.write(key, body, contentType, { IfNoneMatch: "*" });
        return true;
      } catch (error) {
        if (!isPreconditionFailure(error)) throw error;
        // The client's first attempt may have created the object and lost only the answer.
        if (attemptsOf(error) === 1) return false;
        const stored = await this.find(key);
        return stored !== undefined && Buffer.from(stored).equals(Buffer.from(body));
      }
    });

  readonly putContent: ObjectStore["putContent"] = async (body, contentType) => {
    const bytes = Buffer.byteLength(body);
    const reference: ContentReference = { sha256: createHash("sha256").update(body).digest("hex"), bytes };
    if (!(await this.isStored(reference))) await this.writeContent(reference, body, contentType);
    return reference;
  };

  readonly putContentStream: ObjectStore["putContentStream"] = async (open, contentType = defaultType, place) => {
    const { pool } = this;
    const { whole, ...description } = await describeContent(open(), pool);
    const { sha256, bytes, parts } = description;
    const content: ContentReference = { sha256, bytes };
    try {
      const { key, stored } = (await place?.(content)) ?? {
        key: objectKeys.content(sha256),
        stored: await this.isStored(content, parts),
      };
      if (stored) return content;
      const reference = { ...content, key };
      if (whole) await this.writeContent(reference, whole.subarray(0, bytes), contentType);
      else {
        const created = { ContentType: contentType, ...encrypted };
        await this.createOrReplace(reference, parts, (condition) =>
          uploadInParts(this.client, this.at(key), description, open(), pool, { created, condition }),
        );
      }
    } finally {
      if (whole) pool.give(whole);
    }
    return content;
  };

  readonly hasContent: ObjectStore["hasContent"] = async (reference, how) =>
    (await this.findContent(reference, how === undefined ? [] : "any")) !== undefined;

  readonly claimContent: ObjectStore["claimContent"] = async (sha256) => {
    const head = await this.head(objectKeys.content(sha256));
    if (head === undefined) return undefined;
    const { ContentLength: bytes = 0, LastModified: modified, ContentType: contentType } = head;
    return (await this.claim({ sha256, bytes }, { modified, contentType })) ? bytes : undefined;
  };

  readonly getContent: ObjectStore["getContent"] = async (sha256, key = objectKeys.content(sha256)) => {
    const body = await this.get(key);
    const actual = createHash("sha256").update(body).digest("hex");
    if (actual !== sha256) throw new CorruptObjectError(key, `SHA-256 ${sha256}`, `${actual} (${body.length} bytes)`);
    return body;
  };

  readonly copyContent: ObjectStore["copyContent"] = async (content, from) => {
    const { client, bucket, prefix } = this;
    // The checksum of a source in parts does not prove its digest. So a copy never replaces content.
    if (await this.isClaimed(content, "any")) return true;
    if (!(await this.findContent({ ...content, key: from }, "any"))) return false;
    const source = { ...content, key: `${prefix}${from}`, contentType: defaultType };
    try {
      await copyObject(client, bucket, source, `${prefix}${keyOf(content)}`, { condition: { IfNoneMatch: "*" } });
      return true;
    } catch (error) {
      if (isPreconditionFailure(error)) return this.isClaimed(content, "any");
      if (this.isMissing(error)) return false;
      throw error;
    }
  };

  readonly list: ObjectStore["list"] = async (under) => {
    const { client, bucket, prefix } = this;
    const keys: string[] = [];
    const pages = paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: `${prefix}${under}` });
    for await (const { Contents = [] } of pages)
      for (const { Key } of Contents) if (Key !== undefined) keys.push(Key.slice(prefix.length));
    return keys;
  };

  readonly delete: ObjectStore["delete"] = async (key) => {
    await this.client.send(new DeleteObjectCommand(this.at(key)));
  };

  readonly erase: ObjectStore["erase"] = async (key) => {
    const head = await this.head(key);
    if (head) await this.client.send(new DeleteObjectCommand({ ...this.at(key), VersionId: head.VersionId }));
  };

  private at(key: string) {
    return { Bucket: this.bucket, Key: `${this.prefix}${key}` };
  }

  private isMissing(error: unknown): boolean {
    return isMissing(error) || (this.deniedIsMissing && isDenied(error));
  }

  private async unlessMissing<T>(action: () => Promise<T>): Promise<T | undefined> {
    try {
      return await action();
    } catch (error) {
      if (this.isMissing(error)) return undefined;
      throw error;
    }
  }

  private head(key: string) {
    return this.unlessMissing(() => this.client.send(new HeadObjectCommand(this.at(key))));
  }

  private async read(key: string, range?: string, maxBytes = Number.POSITIVE_INFINITY): Promise<Uint8Array> {
    // A connection may break after the headers, when the client no longer retries.
    return withRetries(isCutBody, async () => {
      try {
        const answer = await this.client.send(new GetObjectCommand({ ...this.at(key), Range: range }));
        const { Body: body, ContentLength: bytes = 0 } = answer;
        if (bytes > maxBytes) {
          // Ends the connection, so that the rest is not sent.
          (body as Readable | undefined)?.destroy();
          throw new CorruptObjectError(key, `at most ${maxBytes} bytes`, `${bytes} bytes`);
        }
        return (await body?.transformToByteArray()) ?? new Uint8Array(0);
      } catch (error) {
        throw readError(key, error);
      }
    });
  }

  private findContent(reference: PlacedContent, parts: readonly Buffer[] | "any") {
    const missing = (error: unknown) => this.isMissing(error);
    return findContent(this.client, this.at(keyOf(reference)), reference, { missing, parts });
  }

  private async isStored(reference: ContentReference, parts?: readonly Buffer[]): Promise<boolean> {
    return reference.bytes > smallBytes && (await this.isClaimed(reference, parts));
  }

  /** Tests whether the content exists, and keeps it from reclamation. */
  private async isClaimed(reference: PlacedContent, parts: readonly Buffer[] | "any" = []): Promise<boolean> {
    const content = await this.findContent(reference, parts);
    return content !== undefined && (reference.key !== undefined || (await this.claim(reference, content)));
  }

  /**
   * Writes content again that has not been written for a day. Reclamation deletes only versions that are at least two
   * days old, so the new one stays while the caller stores its reference. Returns false if the content was deleted.
   */
  private async claim(content: ContentReference, { modified, contentType }: FoundContent): Promise<boolean> {
    if (modified !== undefined && this.clock.now() - modified.getTime() < claimedMs) return true;
    const key = `${this.prefix}${keyOf(content)}`;
    const from = { ...content, key, contentType: contentType ?? defaultType };
    const copied = await this.unlessMissing(async () => {
      await copyObject(this.client, this.bucket, from, key);
      return true;
    });
    return copied ?? false;
  }

  /**
   * Creates content under the condition that its name does not exist. An existing object with other content is
   * replaced, if the caller may replace it.
   * @throws CorruptObjectError if the caller may only create objects
   */
  private async createOrReplace(
    reference: PlacedContent,
    parts: readonly Buffer[] | undefined,
    send: (condition: { readonly IfNoneMatch?: "*" }) => Promise<void>,
  ): Promise<void> {
    try {
      // Trainers may only put content under a new name.
      await withRetries(isConflict, () => send({ IfNoneMatch: "*" }));
    } catch (error) {
      if (!isPreconditionFailure(error)) throw error;
      if (await this.isClaimed(reference, parts)) return;
      try {
        await withRetries(isConflict, () => send({}));
      } catch (refused) {
        if (!isDenied(refused)) throw refused;
        const actual = "other content, which this caller may not replace";
        throw new CorruptObjectError(keyOf(reference), `SHA-256 ${reference.sha256}`, actual);
      }
    }
  }

  private writeContent(reference: PlacedContent, body: Body, contentType = defaultType): Promise<void> {
    return this.createOrReplace(reference, undefined, (condition) =>
      this.write(keyOf(reference), body, contentType, condition, reference.sha256),
    );
  }

  /** @param sha256 the digest of the body, if it is known: S3 then checks the body */
  private async write(
    key: string,
    body: Body,
    contentType?: string,
    condition: { readonly IfNoneMatch?: string } = {},
    sha256?: string,
  ): Promise<void> {
    const object = { ...this.at(key), Body: body, ContentType: contentType, ...encrypted, ...condition };
    const ChecksumSHA256 = sha256 && Buffer.from(sha256, "hex").toString("base64");
    const command = new PutObjectCommand({ ...object, ChecksumSHA256 });
    if (sha256 !== undefined) setPayloadHash(command, sha256);
    await translated(key, () => this.client.send(command));
  }
}

type Body = Uint8Array | string;

type PlacedContent = ContentReference & { readonly key?: string };

function keyOf({ sha256, key = objectKeys.content(sha256) }: PlacedContent): string {
  return key;
}

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
