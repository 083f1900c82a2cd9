import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { CreateMultipartUploadCommandInput } from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { bytes, failure, newBucket, put, type Target } from "./target";

const partBytes = 5 * 1024 ** 2;
const md5 = (body: Uint8Array) => createHash("md5").update(body).digest();

/** Returns the documented ETag: the MD5 of the parts' MD5s, and their number. */
const compositeEtag = (parts: readonly Uint8Array[]) =>
  `"${createHash("md5")
    .update(Buffer.concat(parts.map(md5)))
    .digest("hex")}-${parts.length}"`;

export function multipartContract(target: () => Target): void {
  let Bucket: string;
  const client = () => target().client;
  const whole = bytes(2 * partBytes + 1000, 3);
  const pieces = [
    whole.subarray(0, partBytes),
    whole.subarray(partBytes, 2 * partBytes),
    whole.subarray(2 * partBytes),
  ];
  beforeAll(async () => {
    Bucket = await newBucket(target());
  });

  async function create(Key: string, more: Partial<CreateMultipartUploadCommandInput> = {}): Promise<string> {
    return (await client().createMultipartUpload({ Bucket, Key, ...more })).UploadId!;
  }
  async function part(Key: string, UploadId: string, PartNumber: number, Body: Uint8Array) {
    const { ETag, ChecksumCRC32 } = await client().uploadPart({ Bucket, Key, UploadId, PartNumber, Body });
    return { PartNumber, ETag, ...(ChecksumCRC32 ? { ChecksumCRC32 } : {}) };
  }
  const complete = (
    Key: string,
    UploadId: string,
    Parts: readonly { PartNumber: number; ETag?: string | undefined }[],
  ) => client().completeMultipartUpload({ Bucket, Key, UploadId, MultipartUpload: { Parts: [...Parts] as never } });
  async function read(Key: string, Range?: string): Promise<Buffer> {
    const got = await client().getObject({ Bucket, Key, ...(Range ? { Range } : {}) });
    return Buffer.from(await got.Body!.transformToByteArray());
  }

  it("joins parts in any order of upload, and shows nothing before", async () => {
    const Key = "joined";
    const UploadId = await create(Key, { ContentType: "x/y", Metadata: { a: "b" } });
    const second = await part(Key, UploadId, 2, pieces[1]!);
    await part(Key, UploadId, 1, pieces[2]!);
    const first = await part(Key, UploadId, 1, pieces[0]!); // Replaces the earlier part.
    const third = await part(Key, UploadId, 7, pieces[2]!);
    expect(await failure(read(Key))).toBe("404 NoSuchKey");
    expect((await complete(Key, UploadId, [first, second, third])).ETag).toBe(compositeEtag(pieces));
    expect((await read(Key)).equals(whole)).toBe(true);
    const head = await client().headObject({ Bucket, Key });
    expect(head).toMatchObject({
      ContentLength: whole.length,
      ContentType: "x/y",
      Metadata: { a: "b" },
      ETag: compositeEtag(pieces),
    });
    const from = partBytes - 10;
    expect((await read(Key, `bytes=${from}-${from + 19}`)).equals(whole.subarray(from, from + 20))).toBe(true);
    expect((await read(Key, "bytes=-1001")).equals(whole.subarray(-1001))).toBe(true);
    await client().copyObject({ Bucket, Key: "flat", CopySource: `${Bucket}/${Key}` });
    expect((await read("flat")).equals(whole)).toBe(true);
  });

  it("accepts lib-storage's uploads of streams of unknown length", async () => {
    const Body = Readable.from([whole.subarray(0, 70_001), whole.subarray(70_001)]);
    const upload = new Upload({ client: target().client, params: { Bucket, Key: "lib", Body }, partSize: partBytes });
    const answer = await upload.done();
    expect(answer.ETag).toBe(compositeEtag(pieces));
    expect((await read("lib")).equals(whole)).toBe(true);
    const head = await client().headObject({ Bucket, Key: "lib", ChecksumMode: "ENABLED" });
    expect(head.ChecksumCRC32).toMatch(/-3$/);
  });

  it("replaces and is replaced", async () => {
    const Key = "again";
    for (const seed of [1, 2]) {
      const UploadId = await create(Key);
      const body = bytes(1000, seed);
      await complete(Key, UploadId, [await part(Key, UploadId, 1, body)]);
      expect((await read(Key)).equals(body)).toBe(true);
    }
    await put(target(), Bucket, Key, "small");
    expect((await read(Key)).toString()).toBe("small");
  });

  it("combines full-object checksums from those of the parts", async () => {
    const Key = "full";
    const UploadId = await create(Key, { ChecksumAlgorithm: "CRC64NVME", ChecksumType: "FULL_OBJECT" });
    const Parts = [];
    for (const [index, Body] of pieces.entries()) {
      const part = { Bucket, Key, UploadId, PartNumber: index + 1, Body };
      const { ETag, ChecksumCRC64NVME } = await client().uploadPart({ ...part, ChecksumAlgorithm: "CRC64NVME" });
      Parts.push({ PartNumber: index + 1, ETag, ChecksumCRC64NVME });
    }
    const answer = await client().completeMultipartUpload({
      Bucket,
      Key,
      UploadId,
      MultipartUpload: { Parts } as never,
    });
    const single = await client().putObject({ Bucket, Key: "single", Body: whole, ChecksumAlgorithm: "CRC64NVME" });
    expect(answer.ChecksumCRC64NVME).toBe(single.ChecksumCRC64NVME);
    expect(answer.ChecksumCRC64NVME).toMatch(/^[\w+/]{11}=$/);
  });

  it("copies parts from objects", async () => {
    await put(target(), Bucket, "long", whole);
    const Key = "from-parts";
    const UploadId = await create(Key);
    const CopySource = `${Bucket}/long`;
    const copy = async (PartNumber: number, CopySourceRange: string) => {
      const { CopyPartResult } = await client().uploadPartCopy({
        Bucket,
        Key,
        UploadId,
        PartNumber,
        CopySource,
        CopySourceRange,
      });
      return { PartNumber, ETag: CopyPartResult?.ETag };
    };
    const Parts = [await copy(1, `bytes=0-${partBytes - 1}`), await copy(2, "bytes=5-9")];
    await complete(Key, UploadId, Parts);
    expect((await read(Key)).equals(Buffer.concat([pieces[0]!, whole.subarray(5, 10)]))).toBe(true);
    const beyond = await failure(copy(3, `bytes=0-${whole.length}`));
    expect(beyond).not.toBe("no error");
  });

  it("refuses what S3 refuses", async () => {
    const Key = "refused";
    const UploadId = await create(Key);
    const small = await part(Key, UploadId, 1, bytes(10));
    const last = await part(Key, UploadId, 2, bytes(10));
    expect(await failure(complete(Key, UploadId, [small, last]))).toBe("400 EntityTooSmall");
    expect(await failure(complete(Key, UploadId, [last, small]))).toBe("400 InvalidPartOrder");
    expect(await failure(complete(Key, UploadId, [{ ...small, ETag: '"0123456789abcdef0123456789abcdef"' }]))).toBe(
      "400 InvalidPart",
    );
    expect(await failure(complete(Key, UploadId, [small, { ...last, PartNumber: 3 }]))).toBe("400 InvalidPart");
    expect(await failure(complete(Key, UploadId, []))).toMatch(/^400 /);
    expect(await failure(part(Key, UploadId, 10_001, bytes(1)))).toBe("400 InvalidArgument");
    expect(await failure(part(Key, "no-such-upload", 1, bytes(1)))).toBe("404 NoSuchUpload");
    await complete(Key, UploadId, [small]);
    expect(await failure(part(Key, UploadId, 1, bytes(1)))).toBe("404 NoSuchUpload");
  });

  it("aborts", async () => {
    const UploadId = await create("aborted");
    await part("aborted", UploadId, 1, bytes(10));
    await client().abortMultipartUpload({ Bucket, Key: "aborted", UploadId });
    expect(await failure(part("aborted", UploadId, 2, bytes(1)))).toBe("404 NoSuchUpload");
    expect(await failure(read("aborted"))).toBe("404 NoSuchKey");
  });

  it("lists open uploads", async () => {
    const Key = "listed/upload";
    const UploadId = await create(Key);
    const uploads = await client().listMultipartUploads({ Bucket, Prefix: Key });
    expect(uploads.Uploads?.map((upload) => [upload.Key, upload.UploadId])).toEqual([[Key, UploadId]]);
  });
}
