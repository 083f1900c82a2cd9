import fs from "node:fs";
import path from "node:path";
import { createContentUrls } from "../../../adapters/s3/content-urls";
import { createObjectStore } from "../../../adapters/s3/object-store";
import { sha256 } from "../../../core/digest";
import { contentDigestOf, teamPrefix } from "../../../core/object-keys";
import { relativePath, toBinary } from "../../../local/s3/keys";
import { newBucket, put, text } from "./contract/target";
import { type RunningS3, startS3 } from "./harness";

describe("content-addressed keys of the embedded S3", () => {
  let s3: RunningS3;
  let Bucket: string;
  beforeAll(async () => {
    s3 = await startS3({ contentDigest: contentDigestOf });
    Bucket = await newBucket(s3);
    await put(s3, Bucket, "teams/red/runs/r/evil", "evil");
  });
  afterAll(() => s3.close());

  const keyOf = (content: string) => `teams/red/cas/sha256/${sha256(content)}`;
  const CopySource = () => `${Bucket}/teams/red/runs/r/evil`;

  it.each([
    {
      way: "PutObject",
      write: (Key: string) => s3.client.putObject({ Bucket, Key, Body: "evil", IfNoneMatch: "*" }),
    },
    {
      way: "PutObject with the checksum of the bytes",
      write: (Key: string) => {
        const ChecksumSHA256 = Buffer.from(sha256("evil"), "hex").toString("base64");
        return s3.client.putObject({ Bucket, Key, Body: "evil", ChecksumSHA256 });
      },
    },
    {
      way: "CopyObject",
      write: (Key: string) => s3.client.copyObject({ Bucket, Key, CopySource: CopySource() }),
    },
    { way: "a multipart upload", write: (Key: string) => multipart(Key, "body") },
    { way: "a multipart upload of copied parts", write: (Key: string) => multipart(Key, "copy") },
  ])("refuse other content by $way", async ({ write }) => {
    const key = keyOf("genuine");
    await expect(write(key)).rejects.toMatchObject({ name: "BadDigest", $metadata: { httpStatusCode: 400 } });
    await expect(text(s3, Bucket, key)).rejects.toMatchObject({ name: "NoSuchKey" });
  });

  it("refuse other content in a presigned upload, whose URL contains the digest", async () => {
    const { url, headers } = await createContentUrls(s3.client, Bucket, "red").forUpload({
      sha256: sha256("genuine"),
      bytes: 7,
    });
    for (const sent of [headers, {}]) {
      const answer = await fetch(url, { method: "PUT", body: "hostile", headers: sent });
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("<Code>BadDigest</Code>")]);
    }
    expect((await fetch(url, { method: "PUT", body: "genuine", headers })).status).toBe(200);
  });

  it.each([
    { size: 5, write: "putContent" as const },
    { size: 100_000, write: "putContent" as const },
    { size: 9 * 1024 ** 2, write: "putContentStream" as const },
  ])("are repaired when the same $size bytes are put again", async ({ size, write }) => {
    const store = createObjectStore(s3.client, Bucket, teamPrefix("red"));
    const body = Buffer.alloc(size, `content of ${size}`);
    const putAgain = () =>
      write === "putContent"
        ? store.putContent(body)
        : store.putContentStream(async function* () {
            yield body;
          });
    const reference = await putAgain();
    for (const file of filesOf(`teams/red/cas/sha256/${reference.sha256}`)) damage(file);
    await expect(store.getContent(reference.sha256)).rejects.toMatchObject({
      code: "CORRUPT_OBJECT",
      message: expect.stringContaining(reference.sha256),
    });
    expect(await store.hasContent(reference)).toBe(false);
    expect(await putAgain()).toEqual(reference);
    expect(Buffer.from(await store.getContent(reference.sha256)).equals(body)).toBe(true);
  });

  function filesOf(key: string): readonly string[] {
    const bucket = path.join(s3.directory, "buckets", Bucket);
    const parts = fs.readdirSync(path.join(bucket, "uploads")).flatMap((id) => {
      const directory = path.join(bucket, "uploads", id);
      const completed = path.join(directory, "completed.json");
      if (!fs.existsSync(completed) || !fs.readFileSync(completed, "utf8").includes(key)) return [];
      return [path.join(directory, "part-1")];
    });
    return parts.length > 0 ? parts : [path.join(bucket, "objects", relativePath(toBinary(key)))];
  }

  function damage(file: string): void {
    const content = fs.readFileSync(file);
    content[2] = content.readUInt8(2) ^ 1;
    fs.writeFileSync(file, content);
  }

  async function multipart(Key: string, kind: "body" | "copy"): Promise<void> {
    const { UploadId } = await s3.client.createMultipartUpload({ Bucket, Key });
    const part = { Bucket, Key, UploadId, PartNumber: 1 };
    const ETag =
      kind === "body"
        ? (await s3.client.uploadPart({ ...part, Body: "evil" })).ETag
        : (await s3.client.uploadPartCopy({ ...part, CopySource: CopySource() })).CopyPartResult?.ETag;
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
    await s3.client.completeMultipartUpload({ Bucket, Key, UploadId, MultipartUpload, IfNoneMatch: "*" });
  }
});
