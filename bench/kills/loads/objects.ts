import { createHash } from "node:crypto";
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import type { Load, Operation } from "../../../test/support/operation-verdict";
import { integerBelow } from "../../../test/support/random";

const Bucket = "kills";
/** S3's minimum size of a part that is not the last. */
const partBytes = 5 * 1024 * 1024;

/** Puts, creations, overwrites, deletions and multipart uploads, with a stock S3 client. */
export async function objectsLoad(client: S3Client): Promise<Load> {
  await client.send(new CreateBucketCommand({ Bucket })).catch((error: Error) => {
    if (error.name !== "BucketAlreadyOwnedByYou" && error.name !== "BucketAlreadyExists") throw error;
  });
  return {
    name: "S3",
    weight: 5,
    draw: (random, id) => {
      const share = random();
      const bytes = integerBelow(random, random() < 0.9 ? 40_000 : 1_000_000);
      if (share < 0.45) return put(client, id, bytes);
      if (share < 0.7) return create(client, id, bytes);
      if (share < 0.85) return overwrite(client, id, bytes);
      if (share < 0.97) return remove(client, id, bytes);
      return multipart(client, id, bytes);
    },
  };
}

function bytesOf(id: string, count: number): Buffer {
  const block = createHash("sha512").update(id).digest();
  return Buffer.concat([Buffer.from(id), Buffer.alloc(count, block)]);
}

async function read(client: S3Client, key: string): Promise<Buffer | undefined> {
  try {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: key }));
    return Buffer.from(await Body!.transformToByteArray());
  } catch (error) {
    if ((error as Error).name === "NoSuchKey") return undefined;
    throw error;
  }
}

/** Whether a key has the bytes. @throws Error if it has others */
async function has(client: S3Client, key: string, ...choices: readonly Buffer[]): Promise<number> {
  const found = await read(client, key);
  if (!found) return 0;
  const at = choices.findIndex((bytes) => bytes.equals(found));
  if (at < 0) throw new Error(`${key} has ${found.length} other bytes`);
  return at === 0 ? 1 : 0;
}

const sendPut = (client: S3Client, Key: string, Body: Buffer, more: { readonly IfNoneMatch?: string } = {}) =>
  client.send(new PutObjectCommand({ Bucket, Key, Body, ...more }));

function put(client: S3Client, id: string, bytes: number): Operation {
  const body = bytesOf(id, bytes);
  return {
    kind: "S3: put",
    id,
    repeatable: true,
    send: async () => void (await sendPut(client, id, body)),
    async count() {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket, Prefix: id, MaxKeys: 10 }));
      const listed = Contents.filter(({ Key }) => Key === id);
      const there = await has(client, id, body);
      if (listed.length !== there) throw new Error(`read ${there} times, listed ${listed.length} times`);
      if (there && listed[0]!.Size !== body.length) throw new Error(`listed with ${listed[0]!.Size} bytes`);
      return there;
    },
  };
}

function create(client: S3Client, id: string, bytes: number): Operation {
  const body = bytesOf(id, bytes);
  return {
    kind: "S3: create once",
    id,
    repeatable: true,
    async send(again) {
      try {
        await sendPut(client, id, body, { IfNoneMatch: "*" });
      } catch (error) {
        if (again && (error as Error).name === "PreconditionFailed") return;
        throw error;
      }
    },
    count: () => has(client, id, body),
  };
}

function overwrite(client: S3Client, id: string, bytes: number): Operation {
  const [first, second] = [bytesOf(`${id} first`, bytes), bytesOf(`${id} second`, bytes)];
  return {
    kind: "S3: overwrite",
    id,
    repeatable: true,
    async send() {
      await sendPut(client, id, first);
      await sendPut(client, id, second);
    },
    count: () => has(client, id, second, first),
  };
}

function remove(client: S3Client, id: string, bytes: number): Operation {
  const body = bytesOf(id, bytes);
  return {
    kind: "S3: delete",
    id,
    repeatable: true,
    async send() {
      await sendPut(client, id, body);
      await client.send(new DeleteObjectCommand({ Bucket, Key: id }));
    },
    count: async () => 1 - (await has(client, id, body)),
  };
}

function multipart(client: S3Client, id: string, bytes: number): Operation {
  const parts = [bytesOf(`${id} 1`, partBytes), bytesOf(`${id} 2`, bytes)];
  const whole = Buffer.concat(parts);
  return {
    kind: "S3: multipart upload",
    id,
    repeatable: true,
    async send() {
      const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: id }));
      const Parts = await Promise.all(
        parts.map(async (Body, at) => {
          const part = { Bucket, Key: id, UploadId, PartNumber: at + 1 };
          const { ETag } = await client.send(new UploadPartCommand({ ...part, Body }));
          return { ETag, PartNumber: at + 1 };
        }),
      );
      const upload = { Bucket, Key: id, UploadId };
      await client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
    },
    count: () => has(client, id, whole),
  };
}
