import { createHash, randomUUID } from "node:crypto";
import { crc32 } from "node:zlib";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  type S3Client,
  S3ServiceException,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { badRequest, notFound } from "../../core/errors";
import { objectKeys, teamIncomingPrefix, teamPrefix } from "../../core/object-keys";
import type { ObjectStore } from "../../core/ports";
import type { ContentReference } from "../../core/shapes";
import { listBucket, objects } from "../../platform/permissions/grants";
import { teamPort } from "../port";
import { presign } from "./content-urls";
import { copyObject } from "./copy-object";
import { createObjectStore, s3Client, teamObjects } from "./object-store";
import { BufferPool, type FilledBuffer, filled, partBytes, sendParts } from "./uploads";

/** The buffers of one body: one is being filled while two are being sent. */
const buffersEach = 3;
const rangeBytes = 8 * 1024 * 1024;
const rangesAhead = 4;
const defaultType = "application/octet-stream";

export const uploadNotFound = (upload: string) =>
  notFound(
    "UPLOAD_NOT_FOUND",
    `there is no upload ${JSON.stringify(upload.slice(0, 100))}: it was aborted, or was completed longer ago than is remembered; send the file again`,
    { upload: upload.slice(0, 100) },
  );

export const uploadParts = (reason: string, cause: unknown) =>
  badRequest(
    "INVALID_INPUT",
    `the parts make no object: ${reason}; each but the last must have 5 MiB or more, and its ETag must be what the store answered to it`,
    undefined,
    cause,
  );

/** A part's number, from 1, and the ETag of its PUT answer. */
export interface UploadedPart {
  readonly number: number;
  readonly etag: string;
}

/**
 * Receives content with an unknown digest: under a temporary name until it is computed, then under the content's name.
 */
export interface IncomingContent {
  receive(body: AsyncIterable<Uint8Array>, contentType?: string): Promise<ContentReference>;
  /** Returns URLs for uploading that many parts directly to the store. */
  begin(parts: number): Promise<{ readonly upload: string; readonly urls: readonly string[] }>;
  /** Completes an upload. Idempotent. @throws UPLOAD_NOT_FOUND, INVALID_INPUT */
  complete(upload: string, parts: readonly UploadedPart[]): Promise<ContentReference>;
  abort(upload: string): Promise<void>;
}

export function createIncomingContent(
  client: S3Client,
  bucket: string,
  team: string,
  objects: ObjectStore,
): IncomingContent {
  /** An upload's content under a name, and under `<name>.json` the result, which answers repeated requests. */
  const incoming = createObjectStore(client, bucket, teamIncomingPrefix(team));
  const receiptOf = (name: string) => `${name}.json`;
  const at = (name: string) => ({ Bucket: bucket, Key: `${teamIncomingPrefix(team)}${name}` });

  async function isClaimed(content: ContentReference): Promise<boolean> {
    return (await objects.hasContent(content)) && (await objects.claimContent(content.sha256)) !== undefined;
  }

  /** Copies an upload to its content's name, unless the content exists. */
  async function settle(name: string, content: ContentReference, contentType: string): Promise<void> {
    const key = objectKeys.content(content.sha256);
    if (!(await isClaimed(content))) {
      const from = { key: at(name).Key, ...content, contentType };
      await copyObject(client, bucket, from, `${teamPrefix(team)}${key}`);
    }
  }

  /** Empties an upload after the copy. Deleting it would need the right to delete any object; the lifecycle does it. */
  async function empty(name: string): Promise<void> {
    await incoming.put(name, new Uint8Array(0));
  }

  async function digest(name: string): Promise<ContentReference> {
    const hash = createHash("sha256");
    let bytes = 0;
    const ahead: Promise<Uint8Array>[] = [];
    for (let index = 0; ; index += 1) {
      const read = incoming.getRange(name, index * rangeBytes, rangeBytes);
      read.catch(() => undefined); // Reported where the range is awaited.
      ahead.push(read);
      if (ahead.length < rangesAhead) continue;
      const range = await ahead.shift()!;
      hash.update(range);
      bytes += range.byteLength;
      if (range.byteLength < rangeBytes) break;
    }
    await Promise.allSettled(ahead);
    return { sha256: hash.digest("hex"), bytes };
  }

  return {
    async receive(body, contentType = defaultType) {
      const pool = new BufferPool(partBytes, buffersEach);
      const parts = filled(body, pool);
      const first = await parts.next();
      if (first.done) return objects.putContent(new Uint8Array(0), contentType);
      if (first.value.length < partBytes) {
        return objects.putContent(first.value.buffer.subarray(0, first.value.length), contentType);
      }
      const name = randomUUID();
      const whole = createHash("sha256");
      let bytes = 0;
      const received = await sendParts(
        client,
        at(name),
        {
          ...{ ContentType: contentType, ServerSideEncryption: "AES256" },
          ...{ ChecksumAlgorithm: "CRC32", ChecksumType: "FULL_OBJECT" },
        },
        followedBy(first.value, parts),
        pool,
        (part) => {
          whole.update(part);
          bytes += part.length;
          // The CRC-32 protects a part on the way, at a tenth of the cost of a second SHA-256.
          return { checksum: { ChecksumCRC32: crc32Of(part) }, payloadHash: "UNSIGNED-PAYLOAD" };
        },
      );
      const content = { sha256: whole.digest("hex"), bytes };
      if (await isClaimed(content)) {
        await received.abort();
        return content;
      }
      await received.complete();
      await settle(name, content, contentType);
      await empty(name);
      return content;
    },

    async begin(parts) {
      const name = randomUUID();
      const { UploadId } = await client.send(
        new CreateMultipartUploadCommand({ ...at(name), ServerSideEncryption: "AES256" }),
      );
      const urls = await Promise.all(
        Array.from({ length: parts }, (_, i) => {
          const command = new UploadPartCommand({ ...at(name), UploadId, PartNumber: i + 1 });
          return presign(client, team, command);
        }),
      );
      return { upload: `${name}.${UploadId}`, urls };
    },

    async complete(upload, parts) {
      const { name, UploadId } = uploadOf(upload);
      const inOrder = [...parts].sort((a, b) => a.number - b.number);
      try {
        await client.send(
          new CompleteMultipartUploadCommand({
            ...at(name),
            UploadId,
            MultipartUpload: { Parts: inOrder.map(({ number, etag }) => ({ PartNumber: number, ETag: etag })) },
          }),
        );
      } catch (error) {
        if (!isNoSuchUpload(error)) throw refusedParts(error);
        const receipt = await incoming.find(receiptOf(name));
        if (receipt) return JSON.parse(Buffer.from(receipt).toString("utf8")) as ContentReference;
        if ((await incoming.size(name)) === undefined) throw uploadNotFound(upload);
      }
      const content = await digest(name);
      await settle(name, content, defaultType);
      // Answers a repeated request after a lost answer.
      await incoming.put(receiptOf(name), JSON.stringify(content), "application/json");
      await empty(name);
      return content;
    },

    async abort(upload) {
      const { name, UploadId } = uploadOf(upload);
      try {
        await client.send(new AbortMultipartUploadCommand({ ...at(name), UploadId }));
      } catch (error) {
        if (!isNoSuchUpload(error)) throw error;
      }
    },
  };
}

async function* followedBy(first: FilledBuffer, rest: AsyncIterable<FilledBuffer>): AsyncGenerator<FilledBuffer> {
  yield first;
  yield* rest;
}

/** Returns the base64 of the four bytes of a CRC-32, as S3 expects it. */
function crc32Of(body: Uint8Array): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(body));
  return bytes.toString("base64");
}

/** Parses an upload id `<platform's name>.<S3's id>`. @throws UPLOAD_NOT_FOUND */
function uploadOf(upload: string): { readonly name: string; readonly UploadId: string } {
  const [, name, UploadId] = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(.{1,1024})$/.exec(upload) ?? [];
  if (name === undefined || UploadId === undefined) throw uploadNotFound(upload);
  return { name, UploadId };
}

function isNoSuchUpload(error: unknown): boolean {
  return error instanceof S3ServiceException && error.name === "NoSuchUpload";
}

function refusedParts(error: unknown): unknown {
  const codes = ["InvalidPart", "InvalidPartOrder", "EntityTooSmall", "MalformedXML"];
  if (!(error instanceof S3ServiceException) || !codes.includes(error.name)) return error;
  return uploadParts(error.name, error);
}

export const incomingContent = teamPort({
  uses: { s3: s3Client(), objects: teamObjects() },
  grants: { write: [objects("GetObject", "PutObject", "AbortMultipartUpload"), listBucket] },
  make: ({ s3, objects }, { config, team }) => createIncomingContent(s3, config.bucket, team, objects),
});
