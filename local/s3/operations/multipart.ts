import { type Call, queryNumber, requireQuery, respond, respondXml } from "../call";
import { type ChecksumAlgorithm, checksumElement, parseChecksumAlgorithm, resolveChecksumType } from "../checksums";
import { parseRange, type Range } from "../conditions";
import { invalidArgument, S3Error } from "../errors";
import { checksumHeaders, describeObject, storedHeaders } from "../headers";
import { fromBinary, requireKey, toBinary } from "../keys";
import type { PartRecord } from "../record";
import type { Upload } from "../uploads";
import { owner } from "./buckets";
import { encodeUrl } from "./list";
import { receiveFile, writeFile } from "./put";
import { copyBytes, openSource } from "./source";

const maxParts = 10_000;

export async function createMultipartUpload(call: Call): Promise<void> {
  const { headers } = call.request;
  requireKey(call.key);
  const description = describeObject(headers);
  const requested = headers["x-amz-checksum-algorithm"];
  const algorithm = typeof requested === "string" ? parseChecksumAlgorithm(requested) : undefined;
  const requestedType = headers["x-amz-checksum-type"] as string | undefined;
  const checksum = algorithm && { algorithm, type: resolveChecksumType(algorithm, requestedType) };
  const { uploadId } = await call.uploads.create(call.bucket, {
    key: call.key,
    description,
    ...(checksum ? { checksum } : {}),
  });
  respondXml(
    call,
    "InitiateMultipartUploadResult",
    { Bucket: call.bucket, Key: call.key, UploadId: uploadId },
    {
      ...storedHeaders(description),
      ...(checksum ? { "x-amz-checksum-algorithm": checksum.algorithm, "x-amz-checksum-type": checksum.type } : {}),
    },
  );
}

export async function uploadPart(call: Call): Promise<void> {
  const { upload, number } = openPart(call);
  const written = await receiveFile(call, (digest) => partRecord(call, upload, digest), upload.checksum);
  await call.uploads.publishPart(call.bucket, upload.uploadId, requireKey(call.key), number, written.temporary);
  const { record } = written;
  respond(call, 200, {
    etag: `"${record.etag}"`,
    ...checksumHeaders(record),
    ...storedHeaders(upload.description),
  });
}

export async function uploadPartCopy(call: Call): Promise<void> {
  const { upload, number } = openPart(call);
  const source = openSource(call);
  try {
    const range = sourceRange(call, source.record.size);
    const written = await writeFile(
      call.store,
      (write) => copyBytes(call, source, range, write, upload.checksum),
      (digest) => partRecord(call, upload, digest),
    );
    await call.uploads.publishPart(call.bucket, upload.uploadId, requireKey(call.key), number, written.temporary);
    const { etag, modified, checksum } = written.record;
    respondXml(call, "CopyPartResult", {
      LastModified: new Date(modified).toISOString(),
      ETag: `"${etag}"`,
      ...(checksum ? { [checksumElement(checksum.algorithm)]: checksum.value } : {}),
    });
  } finally {
    source.release();
  }
}

function openPart(call: Call): { readonly upload: Upload; readonly number: number } {
  const text = requireQuery(call.query, "partNumber");
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > maxParts) {
    throw invalidArgument("Part number must be an integer between 1 and 10000, inclusive", "partNumber", text);
  }
  return {
    upload: call.uploads.requireOpen(call.bucket, requireQuery(call.query, "uploadId"), requireKey(call.key)),
    number,
  };
}

function partRecord(
  call: Call,
  upload: Upload,
  digest: { readonly size: number; readonly md5: string; readonly checksum?: PartRecord["checksum"] },
): PartRecord {
  const { size, md5, checksum } = digest;
  if (upload.checksum && checksum && checksum.algorithm !== upload.checksum.algorithm) {
    throw new S3Error(
      400,
      "InvalidRequest",
      `Checksum Type mismatch occurred, expected checksum Type: ${upload.checksum.algorithm.toLowerCase()}, actual checksum Type: ${checksum.algorithm.toLowerCase()}`,
    );
  }
  return { size, etag: md5, modified: call.store.clock.now(), ...(checksum ? { checksum } : {}) };
}

/** Parses a range of the source. Unlike `Range`, it must have both ends and be within the source. */
function sourceRange(call: Call, size: number): Range {
  const header = call.request.headers["x-amz-copy-source-range"];
  if (header === undefined) return { start: 0, end: size - 1 };
  const last = /^bytes=\d+-(\d+)$/.exec(String(header))?.[1];
  const range = parseRange(String(header), size);
  if (last === undefined || !range || Number(last) >= size) {
    throw invalidArgument(
      `The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy, within the source's ${size} bytes`,
      "x-amz-copy-source-range",
      String(header),
    );
  }
  return range;
}

export async function abortMultipartUpload(call: Call): Promise<void> {
  await call.uploads.abort(call.bucket, requireQuery(call.query, "uploadId"), requireKey(call.key));
  respond(call, 204);
}

export async function listParts(call: Call): Promise<void> {
  const { query, uploads, bucket } = call;
  const upload = uploads.requireOpen(bucket, requireQuery(query, "uploadId"), requireKey(call.key));
  const marker = queryNumber(query, "part-number-marker", 0, maxParts);
  const limit = queryNumber(query, "max-parts", 1000, 1000);
  const numbers = uploads.listPartNumbers(bucket, upload.uploadId).filter((number) => number > marker);
  const page = numbers.slice(0, limit);
  respondXml(call, "ListPartsResult", {
    Bucket: bucket,
    Key: call.key,
    UploadId: upload.uploadId,
    Initiator: owner,
    Owner: owner,
    StorageClass: upload.description.storageClass ?? "STANDARD",
    PartNumberMarker: marker,
    NextPartNumberMarker: page.at(-1) ?? 0,
    MaxParts: limit,
    IsTruncated: numbers.length > page.length,
    ...checksumOf(upload),
    Part: page
      .map((number) => uploads.findPart(bucket, upload.uploadId, number))
      .filter((part) => part !== undefined)
      .map((part) => ({
        PartNumber: part.number,
        LastModified: new Date(part.modified).toISOString(),
        ETag: `"${part.etag}"`,
        Size: part.size,
        ...(part.checksum ? { [checksumElement(part.checksum.algorithm)]: part.checksum.value } : {}),
      })),
  });
}

const checksumOf = ({
  checksum,
}: Upload): { readonly ChecksumAlgorithm?: ChecksumAlgorithm; readonly ChecksumType?: string } =>
  checksum ? { ChecksumAlgorithm: checksum.algorithm, ChecksumType: checksum.type } : {};

export async function listMultipartUploads(call: Call): Promise<void> {
  const { query, bucket } = call;
  const encode = query.get("encoding-type") === "url" ? encodeUrl : (text: string) => text;
  const prefix = query.get("prefix") ?? "";
  const delimiter = query.get("delimiter") ?? "";
  const keyMarker = query.get("key-marker") ?? "";
  const idMarker = query.get("upload-id-marker") ?? "";
  const limit = queryNumber(query, "max-uploads", 1000, 1000);
  const found = call.uploads
    .listOpen(bucket)
    .map((upload) => ({ ...upload, binary: toBinary(upload.key) }))
    .filter(({ key, binary, uploadId }) => {
      if (!key.startsWith(prefix)) return false;
      const marker = toBinary(keyMarker);
      return binary > marker || (binary === marker && idMarker !== "" && uploadId > idMarker);
    })
    .sort((a, b) => (a.binary < b.binary ? -1 : a.binary > b.binary ? 1 : a.uploadId < b.uploadId ? -1 : 1));
  const { listed, prefixes, truncated } = groupUploads(found, { prefix, delimiter, keyMarker, limit });
  const last = listed.at(-1);
  const lastPrefix = [...prefixes].at(-1) ?? "";
  const nextKey = last && last.binary > toBinary(lastPrefix) ? last.key : lastPrefix;
  respondXml(call, "ListMultipartUploadsResult", {
    Bucket: bucket,
    KeyMarker: encode(keyMarker),
    UploadIdMarker: idMarker,
    NextKeyMarker: truncated ? encode(nextKey) : undefined,
    NextUploadIdMarker: truncated && nextKey === last?.key ? last.uploadId : undefined,
    Prefix: encode(prefix),
    Delimiter: delimiter ? encode(delimiter) : undefined,
    EncodingType: query.get("encoding-type") ?? undefined,
    MaxUploads: limit,
    IsTruncated: truncated,
    Upload: listed.map((upload) => ({
      Key: encode(fromBinary(upload.binary)),
      UploadId: upload.uploadId,
      Initiator: owner,
      Owner: owner,
      StorageClass: upload.description.storageClass ?? "STANDARD",
      Initiated: new Date(upload.initiated).toISOString(),
      ...checksumOf(upload),
    })),
    CommonPrefixes: [...prefixes].map((commonPrefix) => ({ Prefix: encode(commonPrefix) })),
  });
}

/**
 * Takes uploads for one page. Uploads whose key has the delimiter after the prefix are grouped into common prefixes, which
 * also count for the limit.
 */
function groupUploads<Listed extends { readonly key: string }>(
  uploads: readonly Listed[],
  {
    prefix,
    delimiter,
    keyMarker,
    limit,
  }: { readonly prefix: string; readonly delimiter: string; readonly keyMarker: string; readonly limit: number },
): { readonly listed: readonly Listed[]; readonly prefixes: ReadonlySet<string>; readonly truncated: boolean } {
  const prefixes = new Set<string>();
  const listed: Listed[] = [];
  for (const upload of uploads) {
    const at = delimiter === "" ? -1 : upload.key.indexOf(delimiter, prefix.length);
    const common = at < 0 ? undefined : upload.key.slice(0, at + delimiter.length);
    // The previous page ended with this common prefix.
    if (common !== undefined && (prefixes.has(common) || common === keyMarker)) continue;
    if (listed.length + prefixes.size === limit) return { listed, prefixes, truncated: true };
    if (common === undefined) listed.push(upload);
    else prefixes.add(common);
  }
  return { listed, prefixes, truncated: false };
}
