import { failure, newBucket, put, type Target, text } from "./target";

export function conditionContract(target: () => Target): void {
  let Bucket: string;
  const client = () => target().client;
  beforeAll(async () => {
    Bucket = await newBucket(target());
  });

  it("If-None-Match: * lets exactly one of many writers through", async () => {
    const write = (Body: string) => client().putObject({ Bucket, Key: "once", Body, IfNoneMatch: "*" });
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, async (_, writer) => ({ writer, outcome: await failure(write(`writer ${writer}`)) })),
    );
    const winners = outcomes.filter(({ outcome }) => outcome === "no error");
    expect(winners).toHaveLength(1);
    expect(await text(target(), Bucket, "once")).toBe(`writer ${winners[0]!.writer}`);
    // S3 also answers 409 to a lost race, which means that the client should retry.
    const losers = new Set(outcomes.map(({ outcome }) => outcome));
    losers.delete("no error");
    for (const outcome of losers)
      expect(["412 PreconditionFailed", "409 ConditionalRequestConflict"]).toContain(outcome);
  });

  it("If-Match overwrites only the version that it names", async () => {
    const write = (Key: string, IfMatch: string) => failure(client().putObject({ Bucket, Key, Body: "new", IfMatch }));
    const etag = await put(target(), Bucket, "versioned", "old");
    expect(await write("versioned", '"0123456789abcdef0123456789abcdef"')).toBe("412 PreconditionFailed");
    expect(await text(target(), Bucket, "versioned")).toBe("old");
    expect(await write("versioned", etag)).toBe("no error");
    expect(await text(target(), Bucket, "versioned")).toBe("new");
    expect(await write("never", etag)).toBe("404 NoSuchKey");
  });

  it.each([
    ["If-Match with its ETag", (etag: string) => ({ IfMatch: etag }), "no error"],
    ["If-Match with another", () => ({ IfMatch: '"other"' }), "412 PreconditionFailed"],
    ["If-None-Match with its ETag", (etag: string) => ({ IfNoneMatch: etag }), "304"],
    ["If-None-Match with another", () => ({ IfNoneMatch: '"other"' }), "no error"],
  ])("reads by %s", async (_name, conditions, expected) => {
    const etag = await put(target(), Bucket, "read");
    const outcome = await failure(client().getObject({ Bucket, Key: "read", ...conditions(etag) }));
    expect(outcome).toMatch(new RegExp(`^${expected}`));
    const head = await failure(client().headObject({ Bucket, Key: "read", ...conditions(etag) }));
    expect(head.slice(0, 3)).toBe(expected.slice(0, 3));
  });

  it("completes a multipart upload only if no object exists", async () => {
    await put(target(), Bucket, "taken");
    const { UploadId } = await client().createMultipartUpload({ Bucket, Key: "taken" });
    const { ETag } = await client().uploadPart({ Bucket, Key: "taken", UploadId, PartNumber: 1, Body: "x" });
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
    const upload = { Bucket, Key: "taken", UploadId, MultipartUpload, IfNoneMatch: "*" };
    expect(await failure(client().completeMultipartUpload(upload))).toBe("412 PreconditionFailed");
    expect(await text(target(), Bucket, "taken")).toBe("taken");
  });
}
