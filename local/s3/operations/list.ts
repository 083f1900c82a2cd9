import { type Call, queryNumber, respondXml } from "../call";
import { invalidArgument } from "../errors";
import { fromBinary, toBinary } from "../keys";
import { type Listed, listObjects } from "../listing";
import type { XmlFields } from "../xml";

const maxPageKeys = 1000;

export async function listObjectsV2(call: Call): Promise<void> {
  const { query } = call;
  const token = query.get("continuation-token");
  const startAfter = query.get("start-after") ?? "";
  const page = readPage(call, token === null ? toBinary(startAfter) : decodeToken(token));
  respondXml(call, "ListBucketResult", {
    ...page.common,
    StartAfter: startAfter ? page.encode(startAfter) : undefined,
    KeyCount: page.items.length,
    ContinuationToken: token ?? undefined,
    NextContinuationToken: page.truncated ? encodeToken(nameOf(page.items.at(-1)!)) : undefined,
    ...contents(page),
  });
}

export async function listObjectVersions(call: Call): Promise<void> {
  const { query } = call;
  const marker = query.get("key-marker") ?? "";
  const page = readPage(call, toBinary(marker));
  const last = page.items.at(-1);
  const versions = page.items.flatMap((item) => {
    // A damaged object has no id that a client could delete.
    if ("commonPrefix" in item || !item.record) return [];
    const { modified, etag, size, writeId } = item.record;
    return {
      Key: page.encode(fromBinary(item.key)),
      VersionId: writeId,
      IsLatest: true,
      LastModified: new Date(modified).toISOString(),
      ETag: `"${etag}"`,
      Size: size,
      StorageClass: "STANDARD",
    };
  });
  respondXml(call, "ListVersionsResult", {
    ...page.common,
    KeyMarker: page.encode(marker),
    NextKeyMarker: page.truncated && last ? page.encode(fromBinary(nameOf(last))) : undefined,
    Version: versions,
    CommonPrefixes: contents(page)["CommonPrefixes"],
  });
}

interface Page {
  readonly items: readonly Listed[];
  readonly truncated: boolean;
  readonly common: XmlFields;
  readonly encode: (text: string) => string;
}

function readPage(call: Call, after: string): Page {
  const { query, store, bucket } = call;
  store.buckets.require(bucket);
  const encoding = query.get("encoding-type");
  if (encoding !== null && encoding !== "url") {
    throw invalidArgument("Invalid Encoding Method specified in Request", "encoding-type", encoding);
  }
  const encode = encoding === "url" ? encodeUrl : (text: string) => text;
  const prefix = query.get("prefix") ?? "";
  const delimiter = query.get("delimiter") ?? "";
  const limit = queryNumber(query, "max-keys", maxPageKeys, maxPageKeys);
  const page = listObjects(
    store,
    bucket,
    { prefix: toBinary(prefix), delimiter: toBinary(delimiter), after, limit },
    call.folders,
  );
  const common = {
    Name: bucket,
    Prefix: encode(prefix),
    Delimiter: delimiter ? encode(delimiter) : undefined,
    MaxKeys: limit,
    EncodingType: encoding ?? undefined,
    IsTruncated: page.truncated,
  };
  return { ...page, common, encode };
}

function contents({ items, encode }: Page): XmlFields {
  const objects: XmlFields[] = [];
  const prefixes: XmlFields[] = [];
  for (const item of items) {
    if ("commonPrefix" in item) prefixes.push({ Prefix: encode(fromBinary(item.commonPrefix)) });
    else if (!item.record) objects.push({ Key: encode(fromBinary(item.key)), StorageClass: "STANDARD" });
    else {
      const { modified, etag, size, checksum } = item.record;
      objects.push({
        Key: encode(fromBinary(item.key)),
        LastModified: new Date(modified).toISOString(),
        ETag: `"${etag}"`,
        ChecksumAlgorithm: checksum?.algorithm,
        ChecksumType: checksum?.type,
        Size: size,
        StorageClass: "STANDARD",
      });
    }
  }
  return { Contents: objects, CommonPrefixes: prefixes };
}

const nameOf = (item: Listed) => ("commonPrefix" in item ? item.commonPrefix : item.key);

/** Encodes text like S3: "/" and the characters that URLs leave unencoded stay. */
function encodeUrl(text: string): string {
  return encodeURIComponent(text)
    .replace(/%2F/g, "/")
    .replace(/[!'()]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

const encodeToken = (name: string) => Buffer.from(`1${name}`, "latin1").toString("base64url");

function decodeToken(token: string): string {
  const text = Buffer.from(token, "base64url").toString("latin1");
  if (!text.startsWith("1")) {
    throw invalidArgument("The continuation token provided is incorrect", "continuation-token", token);
  }
  return text.slice(1);
}
