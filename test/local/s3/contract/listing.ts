import { type ListObjectsV2CommandInput, paginateListObjectsV2 } from "@aws-sdk/client-s3";
import { newBucket, put, type Target } from "./target";

const keys = [
  "!",
  "a b+c%d",
  "a!/x",
  "a-b",
  "a/1",
  "a/2/deep",
  "a/2/deeper",
  "a/3",
  "a0",
  "b/1",
  "b/2",
  `${"l".repeat(64)}!`,
  `${"l".repeat(64)}/x`,
  `${"l".repeat(64)}0`,
  "z/é",
  "z/\u{1f600}",
  "é",
];

export function listingContract(target: () => Target): void {
  let Bucket: string;
  const client = () => target().client;

  beforeAll(async () => {
    Bucket = await newBucket(target());
    for (const key of [...keys].reverse()) await put(target(), Bucket, key);
  });

  async function list(input: Partial<ListObjectsV2CommandInput>): Promise<readonly (string | undefined)[]> {
    const { Contents = [], CommonPrefixes = [], KeyCount } = await client().listObjectsV2({ Bucket, ...input });
    const names = [...Contents.map(({ Key }) => Key), ...CommonPrefixes.map(({ Prefix }) => Prefix)];
    expect(KeyCount).toBe(names.length);
    return names;
  }

  const sorted = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

  it("lists all keys in the order of their bytes", async () => {
    expect(await list({})).toEqual(sorted);
  });

  it.each([1, 7])("pages by %i", async (pageSize) => {
    const seen: (string | undefined)[] = [];
    for await (const page of paginateListObjectsV2({ client: target().client, pageSize }, { Bucket })) {
      const { Contents = [] } = page;
      expect(Contents.length).toBeLessThanOrEqual(pageSize);
      seen.push(...Contents.map(({ Key }) => Key));
    }
    expect(seen).toEqual(sorted);
  });

  it.each<[string, Partial<ListObjectsV2CommandInput>, readonly string[]]>([
    ["a prefix within a name", { Prefix: "a" }, sorted.filter((key) => key.startsWith("a"))],
    ["a prefix that is a folder", { Prefix: "a/" }, ["a/1", "a/2/deep", "a/2/deeper", "a/3"]],
    ["a prefix that nothing has", { Prefix: "a/9" }, []],
    ["a start within", { Prefix: "a/", StartAfter: "a/2/deep" }, ["a/2/deeper", "a/3"]],
    ["a start that is no key", { StartAfter: "b/1zzz", Prefix: "b" }, ["b/2"]],
    ["folders below a prefix", { Prefix: "a/", Delimiter: "/" }, ["a/1", "a/3", "a/2/"]],
    ["folders of a prefix within a name", { Prefix: "a", Delimiter: "/" }, ["a b+c%d", "a-b", "a0", "a!/", "a/"]],
    ["another delimiter", { Prefix: "a/", Delimiter: "ee" }, ["a/1", "a/3", "a/2/dee"]],
    ["none", { MaxKeys: 0 }, []],
  ])("lists by %s", async (_name, input, expected) => {
    expect(await list(input)).toEqual(expected);
  });

  it.each([1, 3])("pages folders by %i, each once", async (pageSize) => {
    const seen: (string | undefined)[] = [];
    const pages = paginateListObjectsV2({ client: target().client, pageSize }, { Bucket, Delimiter: "/" });
    for await (const { Contents = [], CommonPrefixes = [] } of pages) {
      seen.push(...Contents.map(({ Key }) => Key), ...CommonPrefixes.map(({ Prefix }) => Prefix));
    }
    const expected = new Set(keys.map((key) => (key.includes("/") ? key.slice(0, key.indexOf("/") + 1) : key)));
    expect([...seen].sort()).toEqual([...expected].sort());
  });

  it("describes each object", async () => {
    const { Contents } = await client().listObjectsV2({ Bucket, Prefix: "a/1" });
    expect(Contents).toEqual([
      expect.objectContaining({
        Key: "a/1",
        Size: 3,
        ETag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
        LastModified: expect.any(Date),
        StorageClass: "STANDARD",
      }),
    ]);
  });

  it("encodes keys on request", async () => {
    const encoded = await list({ EncodingType: "url", Prefix: "a b" });
    expect(encoded.map((key) => decodeURIComponent(key!.replaceAll("+", " ")))).toEqual(["a b+c%d"]);
    expect(encoded[0]).toContain("%2B");
  });
}
