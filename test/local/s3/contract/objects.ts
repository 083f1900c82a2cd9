import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { type CopyObjectCommandInput, GetObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { bytes, failure, newBucket, put, type Target, text } from "./target";

export function objectContract(target: () => Target): void {
  let Bucket: string;
  const client = () => target().client;
  beforeAll(async () => {
    Bucket = await newBucket(target());
  });

  describe("buckets", () => {
    it("creates and lists", async () => {
      const name = await newBucket(target());
      expect((await client().listBuckets({})).Buckets?.map((bucket) => bucket.Name)).toContain(name);
    });

    it("refuses what S3 refuses", async () => {
      expect(await failure(client().createBucket({ Bucket }))).toBe("409 BucketAlreadyOwnedByYou");
      expect(await failure(client().createBucket({ Bucket: "No_Capitals" }))).toBe("400 InvalidBucketName");
      expect(await failure(put(target(), "never-made-bucket", "k"))).toBe("404 NoSuchBucket");
    });
  });

  describe("put and get", () => {
    it("returns bytes, headers, metadata and the MD5 as ETag", async () => {
      const Body = bytes(300_000);
      const md5 = createHash("md5").update(Body).digest("hex");
      const answer = await client().putObject({
        Bucket,
        Key: "plain",
        Body,
        ContentType: "application/x-parquet",
        ContentEncoding: "gzip",
        CacheControl: "max-age=60",
        ContentDisposition: 'attachment; filename="a"',
        ContentLanguage: "en",
        Metadata: { run: "r-1", "two-words": "a b" },
      });
      expect(answer.ETag).toBe(`"${md5}"`);
      expect(answer.ChecksumCRC32).toBeDefined();
      const got = await client().getObject({ Bucket, Key: "plain" });
      expect(Buffer.from(await got.Body!.transformToByteArray()).equals(Body)).toBe(true);
      expect(got).toMatchObject({
        ETag: `"${md5}"`,
        ContentLength: 300_000,
        ContentType: "application/x-parquet",
        ContentEncoding: "gzip",
        CacheControl: "max-age=60",
        ContentDisposition: 'attachment; filename="a"',
        ContentLanguage: "en",
        AcceptRanges: "bytes",
        Metadata: { run: "r-1", "two-words": "a b" },
      });
    });

    it("accepts a stream in aws-chunked form with a trailing checksum", async () => {
      const Body = bytes(3_000_000, 7);
      const stream = Readable.from([Body.subarray(0, 1_000_001), Body.subarray(1_000_001)]);
      const answer = await client().putObject({ Bucket, Key: "streamed", Body: stream, ContentLength: Body.length });
      expect(answer.ETag).toBe(`"${createHash("md5").update(Body).digest("hex")}"`);
      const got = await client().getObject({ Bucket, Key: "streamed" });
      expect(Buffer.from(await got.Body!.transformToByteArray()).equals(Body)).toBe(true);
      expect(got.ContentEncoding).toBeUndefined();
    });

    it("keeps an empty object", async () => {
      await put(target(), Bucket, "empty", new Uint8Array());
      const got = await client().getObject({ Bucket, Key: "empty" });
      expect([got.ContentLength, await got.Body!.transformToString()]).toEqual([0, ""]);
    });

    it.each(["CRC32", "CRC64NVME", "SHA256"] as const)("stores and returns a %s", async (algorithm) => {
      const Key = `checksum-${algorithm}`;
      const field = `Checksum${algorithm}` as const;
      // "123456789": the check values of the CRC catalogue, and the digests.
      const known = {
        CRC32: "y/Q5Jg==",
        CRC64NVME: "rosUhgp5mIg=",
        SHA256: createHash("sha256").update("123456789").digest("base64"),
      }[algorithm];
      const answer = await client().putObject({ Bucket, Key, Body: "123456789", [field]: known });
      expect(answer[field]).toBe(known);
      const head = await client().headObject({ Bucket, Key, ChecksumMode: "ENABLED" });
      expect(head[field]).toBe(known);
      const wrong = client().putObject({ Bucket, Key: "wrong", Body: "12345678", [field]: known });
      expect(await failure(wrong)).toMatch(/^400 (BadDigest|XAmzContentChecksumMismatch)$/);
      expect(await failure(client().headObject({ Bucket, Key: "wrong" }))).toBe("404 NotFound");
    });

    it("verifies Content-MD5", async () => {
      const ContentMD5 = createHash("md5").update("right").digest("base64");
      await client().putObject({ Bucket, Key: "md5", Body: "right", ContentMD5 });
      expect(await failure(client().putObject({ Bucket, Key: "md5", Body: "wrong", ContentMD5 }))).toBe(
        "400 BadDigest",
      );
      expect(await text(target(), Bucket, "md5")).toBe("right");
    });

    it("answers ranges", async () => {
      await put(target(), Bucket, "ranged", "0123456789");
      const range = async (Range: string) => {
        const got = await client().getObject({ Bucket, Key: "ranged", Range });
        return [got.$metadata.httpStatusCode, got.ContentRange, await got.Body!.transformToString()];
      };
      expect(await range("bytes=2-4")).toEqual([206, "bytes 2-4/10", "234"]);
      expect(await range("bytes=7-")).toEqual([206, "bytes 7-9/10", "789"]);
      expect(await range("bytes=-3")).toEqual([206, "bytes 7-9/10", "789"]);
      expect(await range("bytes=0-99")).toEqual([206, "bytes 0-9/10", "0123456789"]);
      expect(await failure(range("bytes=10-"))).toBe("416 InvalidRange");
    });

    it("names the missing bucket or object", async () => {
      expect(await failure(text(target(), Bucket, "missing"))).toBe("404 NoSuchKey");
      expect(await failure(client().headObject({ Bucket, Key: "missing" }))).toBe("404 NotFound");
      expect(await failure(text(target(), "never-made-bucket", "k"))).toBe("404 NoSuchBucket");
      const nowhere = client().deleteObject({ Bucket: "never-made-bucket", Key: "k" });
      expect(await failure(nowhere)).toBe("404 NoSuchBucket");
    });
  });

  describe("presigned URLs", () => {
    it("serve PUT and GET without a client", async () => {
      const body = "sent by fetch";
      const putUrl = await getSignedUrl(client(), new PutObjectCommand({ Bucket, Key: "by/url" }));
      expect((await fetch(putUrl, { method: "PUT", body })).status).toBe(200);
      const command = new GetObjectCommand({ Bucket, Key: "by/url", ResponseContentType: "text/weird" });
      const answer = await fetch(await getSignedUrl(client(), command));
      expect([await answer.text(), answer.headers.get("content-type")]).toEqual([body, "text/weird"]);
    });
  });

  describe("copy", () => {
    it("copies bytes and metadata, or replaces the metadata", async () => {
      await client().putObject({
        Bucket,
        Key: "from here",
        Body: "copied",
        Metadata: { kept: "yes" },
        ContentType: "a/b",
      });
      const CopySource = `${Bucket}/${encodeURIComponent("from here")}`;
      const answer = await client().copyObject({ Bucket, Key: "copy", CopySource });
      expect(answer.CopyObjectResult?.ETag).toBe(`"${createHash("md5").update("copied").digest("hex")}"`);
      const copy = await client().getObject({ Bucket, Key: "copy" });
      expect([await copy.Body!.transformToString(), copy.Metadata, copy.ContentType]).toEqual([
        "copied",
        { kept: "yes" },
        "a/b",
      ]);
      await client().copyObject({
        Bucket,
        Key: "copy",
        CopySource,
        MetadataDirective: "REPLACE",
        Metadata: { n: "ew" },
      });
      expect((await client().headObject({ Bucket, Key: "copy" })).Metadata).toEqual({ n: "ew" });
    });

    it("refuses a missing source, a failed condition, and a copy onto itself that changes nothing", async () => {
      const ETag = await put(target(), Bucket, "source");
      const copy = (more: Partial<CopyObjectCommandInput>) =>
        failure(client().copyObject({ Bucket, Key: "copy", CopySource: `${Bucket}/source`, ...more }));
      expect(await copy({ CopySource: `${Bucket}/missing` })).toBe("404 NoSuchKey");
      expect(await copy({ CopySourceIfMatch: '"other"' })).toBe("412 PreconditionFailed");
      expect(await copy({ CopySourceIfNoneMatch: ETag })).toBe("412 PreconditionFailed");
      expect(await copy({ CopySourceIfMatch: ETag })).toBe("no error");
      expect(await copy({ Key: "source" })).toBe("400 InvalidRequest");
    });
  });

  describe("delete", () => {
    it("is idempotent", async () => {
      await put(target(), Bucket, "doomed");
      await client().deleteObject({ Bucket, Key: "doomed" });
      await client().deleteObject({ Bucket, Key: "doomed" });
      expect(await failure(text(target(), Bucket, "doomed"))).toBe("404 NoSuchKey");
    });

    it("deletes many at once", async () => {
      const keys = ["many/1", "many/<&>", "many/ü"];
      for (const key of keys) await put(target(), Bucket, key);
      const Objects = [...keys, "many/not-there"].map((Key) => ({ Key }));
      const answer = await client().deleteObjects({ Bucket, Delete: { Objects } });
      expect(answer.Deleted?.map(({ Key }) => Key).sort()).toEqual(Objects.map(({ Key }) => Key).sort());
      expect(answer.Errors ?? []).toEqual([]);
      for (const key of keys) expect(await failure(text(target(), Bucket, key))).toBe("404 NoSuchKey");
    });
  });
}
