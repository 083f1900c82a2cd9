import { createHash, type Hash } from "node:crypto";
import type { S3Client } from "@aws-sdk/client-s3";
import { CorruptObjectError } from "../../core/object-documents";
import type { ContentReference } from "../../core/shapes";
import type { BufferPool } from "./buffer-pool";
import { type FilledBuffer, sendParts } from "./multipart-upload";

/**
 * The size of a part. 10,000 parts of 8 MiB allow objects of up to 78 GiB. Content of one part is sent in one request.
 */
export const partBytes = 8 * 1024 * 1024;

export interface ContentDescription extends ContentReference {
  /** The SHA-256 of each part. */
  readonly parts: readonly Buffer[];
  /** A pooled buffer that begins with the bytes, if they fit in one part. The caller must return it to the pool. */
  readonly whole?: Buffer;
}

/**
 * Makes the first pass: computes the content's digest, which is its name, and its parts' digests, with which S3 checks
 * that the second pass sends the same bytes.
 */
export async function describeContent(body: AsyncIterable<Uint8Array>, pool: BufferPool): Promise<ContentDescription> {
  const content = createHash("sha256");
  const parts: Buffer[] = [];
  let part: Hash | undefined;
  let bytes = 0;
  let whole: Buffer | undefined = await pool.take();
  try {
    for await (let chunk of body) {
      while (chunk.byteLength > 0) {
        if (bytes === partBytes && whole) {
          pool.give(whole);
          whole = undefined;
          parts.push(content.copy().digest());
        }
        if (bytes % partBytes === 0 && bytes > partBytes && part) parts.push(part.digest());
        if (bytes % partBytes === 0 && bytes > 0) part = createHash("sha256");
        const piece = chunk.subarray(0, partBytes - (bytes % partBytes));
        whole?.set(piece, bytes);
        content.update(piece);
        part?.update(piece);
        bytes += piece.byteLength;
        chunk = chunk.subarray(piece.byteLength);
      }
    }
  } catch (error) {
    if (whole) pool.give(whole);
    throw error;
  }
  if (part) parts.push(part.digest());
  const sha256 = content.digest("hex");
  return { sha256, bytes, parts, ...(whole ? { whole } : {}) };
}

/**
 * Makes the second pass: a multipart upload under the content's name. S3 checks every part against the digest of the
 * first pass, so either that content or nothing becomes visible.
 *
 * @throws CorruptObjectError if the length of the body has changed; S3's error if the condition does not hold
 */
export async function uploadInParts(
  client: S3Client,
  object: { readonly Bucket: string; readonly Key: string },
  description: ContentDescription,
  body: AsyncIterable<Uint8Array>,
  pool: BufferPool,
  {
    created,
    condition,
  }: {
    readonly created: { readonly ContentType: string; readonly ServerSideEncryption: "AES256" };
    readonly condition: { readonly IfNoneMatch?: "*" };
  },
): Promise<void> {
  const { parts, bytes } = description;
  const grown = () =>
    new CorruptObjectError(
      object.Key,
      `the ${bytes} bytes of its first reading`,
      "another length when it was read again",
    );
  let sentBytes = 0;
  const checksums = { ...created, ChecksumAlgorithm: "SHA256", ChecksumType: "COMPOSITE" } as const;
  const sent = await sendParts(client, object, checksums, filled(body, pool), pool, (part, index) => {
    const digest = parts[index];
    if (digest === undefined || (index < parts.length - 1 && part.length < partBytes)) throw grown();
    sentBytes += part.length;
    return { checksum: { ChecksumSHA256: digest.toString("base64") }, payloadHash: digest.toString("hex") };
  });
  try {
    if (sentBytes !== bytes) throw grown();
    await sent.complete(condition);
  } catch (error) {
    await sent.abort();
    throw error;
  }
}

/**
 * Yields the body in buffers of a part's size. The last one may be shorter. The consumer returns each buffer to the
 * pool.
 */
export async function* filled(body: AsyncIterable<Uint8Array>, pool: BufferPool): AsyncGenerator<FilledBuffer> {
  let buffer: Buffer | undefined;
  let length = 0;
  try {
    for await (let chunk of body) {
      while (chunk.byteLength > 0) {
        buffer ??= await pool.take();
        const piece = chunk.subarray(0, partBytes - length);
        buffer.set(piece, length);
        length += piece.byteLength;
        chunk = chunk.subarray(piece.byteLength);
        if (length < partBytes) continue;
        const full = { buffer, length };
        buffer = undefined;
        length = 0;
        yield full;
      }
    }
    if (buffer) {
      const last = { buffer, length };
      buffer = undefined;
      yield last;
    }
  } finally {
    if (buffer) pool.give(buffer);
  }
}
