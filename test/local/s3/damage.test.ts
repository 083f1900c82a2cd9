import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { relativePath, toBinary } from "../../../local/s3/keys";
import { bytes, newBucket, put, text } from "./contract/target";
import { type RunningS3, startS3 } from "./harness";

const mebibyte = 1024 ** 2;

describe("damaged files of the embedded S3", () => {
  let s3: RunningS3;
  let Bucket: string;
  beforeAll(async () => {
    s3 = await startS3();
    Bucket = await newBucket(s3);
  });
  afterAll(() => s3.close());

  const fileOf = (key: string) => path.join(s3.directory, "buckets", Bucket, "objects", relativePath(toBinary(key)));

  function flip(file: string, at: number): void {
    const content = fs.readFileSync(file);
    const index = at < 0 ? content.length + at : at;
    content[index] = content.readUInt8(index) ^ 0x10;
    fs.writeFileSync(file, content);
  }

  const read = (Key: string, Range?: string) => s3.client.getObject({ Bucket, Key, Range });
  const expectDamage = async (answer: Promise<unknown>, key: string) => {
    await expect(answer).rejects.toMatchObject({ name: "InternalError", Key: key, Damage: expect.any(String) });
    await expect(answer).rejects.toThrow(`s3://${Bucket}/${key} is damaged`);
  };

  it.each([
    { damage: "a changed first byte", change: (file: string) => flip(file, 0) },
    { damage: "a changed last byte of the body", change: (file: string) => flip(file, 199_999) },
    { damage: "a changed checksum of a block", change: (file: string) => flip(file, 200_003) },
    { damage: "a changed record", change: (file: string) => flip(file, 200_030) },
    { damage: "a changed length", change: (file: string) => flip(file, -14) },
    { damage: "a changed magic number", change: (file: string) => flip(file, -1) },
    { damage: "a cut end", change: (file: string) => fs.truncateSync(file, 150_000) },
    { damage: "nothing left", change: (file: string) => fs.truncateSync(file, 0) },
    { damage: "an appended byte", change: (file: string) => fs.appendFileSync(file, "x") },
    { damage: "a zeroed block", change: (file: string) => zero(file, 65_536, 4096) },
  ])("answers a read of $damage with an error that names the object", async ({ damage, change }) => {
    const key = `files/${damage}`;
    await put(s3, Bucket, key, bytes(200_000));
    change(fileOf(key));
    await expectDamage(read(key), key);
    const listed = await s3.client.listObjectsV2({ Bucket, Prefix: key });
    expect(listed.Contents?.map(({ Key }) => Key)).toEqual([key]);
    await put(s3, Bucket, key, "written again");
    expect(await text(s3, Bucket, key)).toBe("written again");
  });

  it("verifies the blocks that a range touches, and no others", async () => {
    await put(s3, Bucket, "ranges", bytes(300_000));
    flip(fileOf("ranges"), 100_000);
    const answer = await read("ranges", "bytes=140000-250000");
    expect(Buffer.from(await answer.Body!.transformToByteArray())).toEqual(bytes(300_000).subarray(140_000, 250_001));
    await expectDamage(read("ranges", "bytes=70000-70010"), "ranges");
    await expectDamage(read("ranges", "bytes=131071-131072"), "ranges");
  });

  it("cuts the connection before a damaged block of a large body, then answers with the error", async () => {
    const body = bytes(20 * mebibyte);
    await put(s3, Bucket, "large", body);
    flip(fileOf("large"), 15 * mebibyte);
    const received = await receivedBytes(`${s3.endpoint}/${Bucket}/large`);
    expect(received.complete).toBe(false);
    expect(received.body.length).toBeLessThanOrEqual(15 * mebibyte);
    expect(received.body.equals(body.subarray(0, received.body.length))).toBe(true);
    await expectDamage(read("large"), "large");
  });

  it("refuses the file of another object, and a part of another upload", async () => {
    await put(s3, Bucket, "swap/a", "the first");
    await put(s3, Bucket, "swap/b", "the other");
    fs.copyFileSync(fileOf("swap/a"), fileOf("swap/b"));
    await expectDamage(read("swap/b"), "swap/b");
    const uploads = await Promise.all(["x", "y"].map((key) => upload(key, bytes(1000, key.charCodeAt(0)))));
    fs.copyFileSync(path.join(uploads[0]!, "part-1"), path.join(uploads[1]!, "part-1"));
    await expectDamage(read("y"), "y");
    fs.rmSync(path.join(uploads[0]!, "part-1"));
    await expectDamage(read("x"), "x");
  });

  it("finds damage when a checksum is requested, and when the object is copied", async () => {
    await put(s3, Bucket, "checked", bytes(1000));
    flip(fileOf("checked"), 500);
    const head = s3.client.headObject({ Bucket, Key: "checked", ChecksumMode: "ENABLED" });
    await expect(head).rejects.toMatchObject({ $metadata: { httpStatusCode: 500 } });
    const copy = s3.client.copyObject({ Bucket, Key: "copy", CopySource: `${Bucket}/checked` });
    await expectDamage(copy, "checked");
    await expect(read("copy")).rejects.toMatchObject({ name: "NoSuchKey" });
  });

  it("deletes a damaged object", async () => {
    await put(s3, Bucket, "gone", "x");
    fs.truncateSync(fileOf("gone"), 3);
    await s3.client.deleteObject({ Bucket, Key: "gone" });
    await expect(read("gone")).rejects.toMatchObject({ name: "NoSuchKey" });
  });

  /**
   * Uploads in parts.
   * @returns the upload's directory
   */
  async function upload(Key: string, Body: Uint8Array): Promise<string> {
    const { UploadId } = await s3.client.createMultipartUpload({ Bucket, Key });
    const { ETag } = await s3.client.uploadPart({ Bucket, Key, UploadId, PartNumber: 1, Body });
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
    await s3.client.completeMultipartUpload({ Bucket, Key, UploadId, MultipartUpload });
    return path.join(s3.directory, "buckets", Bucket, "uploads", UploadId!);
  }
});

function zero(file: string, at: number, length: number): void {
  const descriptor = fs.openSync(file, "r+");
  fs.writeSync(descriptor, Buffer.alloc(length), 0, length, at);
  fs.closeSync(descriptor);
}

/** Receives a body without any checks. */
function receivedBytes(url: string): Promise<{ readonly body: Buffer; readonly complete: boolean }> {
  return new Promise((resolve, reject) => {
    http
      .get(url, { headers: { authorization: "AWS4-HMAC-SHA256 Credential=test" } }, (response) => {
        const chunks: Buffer[] = [];
        const end = (complete: boolean) => resolve({ body: Buffer.concat(chunks), complete });
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => end(true)).on("error", () => end(false));
      })
      .on("error", reject);
  });
}
