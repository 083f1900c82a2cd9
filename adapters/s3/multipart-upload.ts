import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  type CreateMultipartUploadCommandInput,
  type S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import type { BufferPool } from "./buffer-pool";
import { setPayloadHash } from "./payload-digest";
import { translated } from "./service-errors";

/** A part of a body: the first `length` bytes of a pooled buffer. */
export interface FilledBuffer {
  readonly buffer: Buffer;
  readonly length: number;
}

/** The checksum that S3 compares with a part, and the part's `x-amz-content-sha256`. */
export interface PartChecksum {
  readonly checksum: { readonly ChecksumSHA256: string } | { readonly ChecksumCRC32: string };
  readonly payloadHash: string;
}

/** A multipart upload with all of its parts. Nothing is visible before `complete`. */
export interface SentParts {
  /** @param condition the condition under which the object is created */
  complete(condition?: { readonly IfNoneMatch?: "*" }): Promise<void>;
  abort(): Promise<void>;
}

/**
 * Begins a multipart upload and sends a body part by part. Buffers return to the pool when their part was sent. A
 * failure aborts the upload. If the process dies, the bucket's lifecycle rule removes the parts.
 *
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
