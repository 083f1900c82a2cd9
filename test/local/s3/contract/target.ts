import { randomBytes } from "node:crypto";
import type { S3 } from "@aws-sdk/client-s3";

export interface Target {
  readonly name: string;
  readonly endpoint: string;
  readonly client: S3;
}

export async function newBucket({ client }: Target): Promise<string> {
  const Bucket = `contract-${randomBytes(6).toString("hex")}`;
  await client.createBucket({ Bucket });
  return Bucket;
}

export async function put(
  { client }: Target,
  Bucket: string,
  Key: string,
  Body: string | Uint8Array = Key,
): Promise<string> {
  return (await client.putObject({ Bucket, Key, Body })).ETag!;
}

/** Uploads an object in these parts. */
export async function putParts({ client }: Target, Bucket: string, Key: string, bodies: readonly (string | Buffer)[]) {
  const { UploadId } = await client.createMultipartUpload({ Bucket, Key });
  const Parts = [];
  for (const [index, Body] of bodies.entries()) {
    const { ETag } = await client.uploadPart({ Bucket, Key, UploadId, PartNumber: index + 1, Body });
    Parts.push({ PartNumber: index + 1, ETag });
  }
  const complete = { Bucket, Key, UploadId: UploadId!, MultipartUpload: { Parts } };
  await client.completeMultipartUpload(complete);
  return complete;
}

export async function text({ client }: Target, Bucket: string, Key: string): Promise<string> {
  return (await client.getObject({ Bucket, Key })).Body!.transformToString();
}

/** Returns the error's code and status, or "no error". */
export async function failure(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return "no error";
  } catch (error) {
    const { name, $metadata } = error as {
      readonly name: string;
      readonly $metadata?: { readonly httpStatusCode?: number };
    };
    return `${$metadata?.httpStatusCode} ${name}`;
  }
}

/** Returns deterministic bytes: random ones, repeated at a distance that is prime to every part and block size. */
export function bytes(length: number, seed = 1): Buffer {
  const block = Buffer.alloc(Math.min(length, 65_537));
  let state = seed;
  for (let i = 0; i < block.length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    block[i] = state >>> 24;
  }
  return length === 0 ? block : Buffer.alloc(length, block);
}
