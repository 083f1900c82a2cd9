import { createHash, type Hash } from "node:crypto";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  type CreateMultipartUploadCommandInput,
  type PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { CorruptObjectError } from "../../core/object-documents";
import type { ContentReference } from "../../core/shapes";
import { translated } from "./service-errors";

/**
 * Sets the payload's SHA-256 in hex for Signature Version 4, or `UNSIGNED-PAYLOAD` for a payload with its own checksum.
 * Otherwise the client computes the SHA-256 again over all bytes.
 */
export function setPayloadHash(command: PutObjectCommand | UploadPartCommand, hash: string): void {
  // Both commands accept this middleware, but the overloads of their union do not.
  (command as PutObjectCommand).middlewareStack.add(
    (next) => (args) => {
      const { headers } = args.request as { readonly headers: Record<string, string> };
      headers["x-amz-content-sha256"] = hash;
      return next(args);
    },
    { step: "build", name: "setPayloadHash" },
  );
}

/** At most `limit` buffers of one size, made on demand and reused: bounds uploads' memory. Callers wait in order. */
export class BufferPool {
  private readonly free: Buffer[] = [];
  private readonly waiting: ((buffer: Buffer) => void)[] = [];
  private made = 0;

  constructor(
    private readonly size: number,
    private readonly limit: number,
  ) {}

  async take(): Promise<Buffer> {
    const buffer = this.free.pop();
    if (buffer) return buffer;
    if (this.made < this.limit) return this.make();
    return new Promise((resolve) => {
      this.waiting.push(resolve);
    });
  }

  give(buffer: Buffer): void {
    const next = this.waiting.shift();
    if (next) next(buffer);
    else this.free.push(buffer);
  }

  lose(): void {
    this.made -= 1;
    const next = this.waiting.shift();
    if (next) next(this.make());
  }

  private make(): Buffer {
    this.made += 1;
    return Buffer.allocUnsafeSlow(this.size);
  }
}

export interface FilledBuffer {
  readonly buffer: Buffer;
  readonly length: number;
}

/** The checksum that S3 compares with a part, and the part's `x-amz-content-sha256`. */
interface PartChecksum {
  readonly checksum: { readonly ChecksumSHA256: string } | { readonly ChecksumCRC32: string };
  readonly payloadHash: string;
}

/** A multipart upload with all of its parts. Nothing is visible before `complete`. */
interface SentParts {
  /** @param condition the condition under which the object is created */
  complete(condition?: { readonly IfNoneMatch?: "*" }): Promise<void>;
  abort(): Promise<void>;
}

/**
 * Begins a multipart upload and sends a body part by part. Buffers return to the pool when their part was sent. A
 * failure aborts the upload. If the process dies, the bucket's lifecycle rule removes the parts.
 * @param checksumOf returns the checksum of a part with that index, from 0. A part that it refuses by an error ends the
 * upload.
 */
export async function sendParts(
  client: S3Client,
  object: { readonly Bucket: string; readonly Key: string },
  created: Omit<CreateMultipartUploadCommandInput, "Bucket" | "Key">,
  body: AsyncIterable<FilledBuffer>,
  pool: BufferPool,
  checksumOf: (part: Uint8Array, index: number) => PartChecksum,
): Promise<SentParts> {
  const key = object.Key;
  const begun = await translated(key, () => client.send(new CreateMultipartUploadCommand({ ...object, ...created })));
  const upload = { ...object, UploadId: begun.UploadId };
  const sent: ({ readonly PartNumber: number; readonly ETag?: string } & PartChecksum["checksum"])[] = [];
  const sending = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;

  const send = ({ buffer, length }: FilledBuffer, index: number): void => {
    const part = buffer.subarray(0, length);
    let described: PartChecksum;
    try {
      described = checksumOf(part, index);
    } catch (error) {
      pool.give(buffer);
      throw error;
    }
    const { checksum, payloadHash } = described;
    const PartNumber = index + 1;
    const command = new UploadPartCommand({ ...upload, PartNumber, Body: part, ...checksum });
    setPayloadHash(command, payloadHash);
    const one = translated(key, () => client.send(command)).then(
      ({ ETag }) => {
        sent[index] = { PartNumber, ETag, ...checksum };
        pool.give(buffer);
      },
      (error: unknown) => {
        failure ??= { error };
        pool.lose(); // A failed request may still hold the buffer.
      },
    );
    sending.add(one);
    void one.finally(() => sending.delete(one));
  };
  const abort = async (): Promise<void> => {
    await Promise.all(sending);
    await client.send(new AbortMultipartUploadCommand(upload)).catch(() => undefined);
  };

  try {
    let index = 0;
    for await (const part of body) {
      if (failure) {
        pool.give(part.buffer);
        break;
      }
      send(part, index);
      index += 1;
    }
    await Promise.all(sending);
    if (failure) throw failure.error;
  } catch (error) {
    await abort();
    throw error;
  }
  return {
    abort,
    async complete(condition = {}) {
      const command = new CompleteMultipartUploadCommand({ ...upload, ...condition, MultipartUpload: { Parts: sent } });
      await translated(key, () => client.send(command));
    },
  };
}

/**
 * The size of a part. 10,000 parts of 8 MiB allow objects of up to 78 GiB. Content of one part is sent in one request.
 */
export const partBytes = 8 * 1024 * 1024;

interface ContentDescription extends ContentReference {
  readonly parts: readonly Buffer[];
  /** A pooled buffer that begins with the bytes, if they fit in one part. The caller must return it to the pool. */
  readonly whole?: Buffer;
}

/** The first pass: the content's digest, which is its name, and the parts', by which S3 checks the second pass. */
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
  return { sha256, bytes, parts, whole };
}

/**
 * Makes the second pass: a multipart upload under the content's name. S3 checks every part against the digest of the
 * first pass, so either that content or nothing becomes visible.
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

/** Yields the body in buffers of a part's size, the last one shorter. The consumer returns them to the pool. */
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
