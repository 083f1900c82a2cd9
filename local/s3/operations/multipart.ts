import { type Call, requireQuery, respond, respondXml } from "../call";
import { checksumElement, parseChecksumAlgorithm, resolveChecksumType } from "../checksums";
import { parseRange, type Range } from "../conditions";
import { invalidArgument, S3Error } from "../errors";
import { checksumHeaders, describeObject, storedHeaders } from "../headers";
import { requireKey } from "../keys";
import type { PartRecord } from "../record";
import type { Upload } from "../uploads";
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

/** Lists the open uploads, all on one page. */
export async function listMultipartUploads(call: Call): Promise<void> {
  const prefix = call.query.get("prefix") ?? "";
  const uploads = call.uploads.listOpen(call.bucket).filter(({ key }) => key.startsWith(prefix));
  respondXml(call, "ListMultipartUploadsResult", {
    Bucket: call.bucket,
    IsTruncated: false,
    Upload: uploads.map(({ key, uploadId, initiated }) => ({
      ...{ Key: key, UploadId: uploadId, Initiated: new Date(initiated).toISOString() },
    })),
  });
}
