import { createHash } from "node:crypto";
import { receiveText } from "../body";
import { announce, type Call, requireQuery, respondXml } from "../call";
import { type Checksum, checksumElement, checksumHeader, checksumMismatch, combineChecksums } from "../checksums";
import { writeCondition } from "../conditions";
import { healingCondition, requireContent, sha256OfParts } from "../content";
import { invalidRequest, malformedXml, noSuchUpload, S3Error } from "../errors";
import { storedHeaders } from "../headers";
import { requireKey } from "../keys";
import { encodeRecord, type ObjectRecord, type StoredPart } from "../record";
import type { NumberedPart, Upload } from "../uploads";
import { childrenNamed, childText, parseXml, type XmlElement } from "../xml";

const smallestPart = 5 * 1024 ** 2;

interface RequestedPart {
  readonly number: number;
  readonly etag: string;
  readonly element: XmlElement;
}

export async function completeMultipartUpload(call: Call): Promise<void> {
  const { uploads, store, bucket, request } = call;
  const uploadId = requireQuery(call.query, "uploadId");
  const key = requireKey(call.key);
  const condition = writeCondition(request.headers);
  const requested = readParts(await receiveText(request));
  await uploads.completing(uploadId, async () => {
    if (uploads.isCompleted(bucket, uploadId, key)) return answerAgain(call, uploadId, requested);
    const upload = uploads.requireOpen(bucket, uploadId, key);
    const parts = requested.map((part) => requirePart(call, upload, part));
    requireSizes(parts);
    const checksum = checkedChecksum(call, upload, parts);
    const record: ObjectRecord = {
      key: call.key,
      size: parts.reduce((sum, part) => sum + part.size, 0),
      etag: compositeEtag(parts),
      ...store.newWrite(bucket),
      ...upload.description,
      ...(checksum ? { checksum } : {}),
      parts: { uploadId, list: parts.map(storedPart) },
    };
    const promised = call.contentDigest(call.key);
    if (promised !== undefined) requireContent(call, promised, await sha256OfParts(call, record));
    const allowed = await healingCondition(call, condition, promised);
    const temporary = await store.disk.writeTemporary(encodeRecord(record));
    const announcement = announce(call, "Object Created", { key: call.key, reason: "CompleteMultipartUpload", record });
    await store.publish(bucket, key, temporary, allowed, announcement, () => uploads.markCompleted(bucket, record));
    answer(call, record);
  });
}

function answerAgain(call: Call, uploadId: string, requested: readonly RequestedPart[]): void {
  const record = call.store.find(call.bucket, requireKey(call.key));
  const numbers = record?.parts?.list.map((part) => part.number).join();
  if (record?.parts?.uploadId !== uploadId || numbers !== requested.map((part) => part.number).join()) {
    throw noSuchUpload(uploadId);
  }
  answer(call, record);
}

function answer(call: Call, record: ObjectRecord): void {
  const { checksum } = record;
  respondXml(
    call,
    "CompleteMultipartUploadResult",
    {
      Location: `http://${call.request.headers.host ?? "127.0.0.1"}/${call.bucket}/${encodeURIComponent(call.key)}`,
      Bucket: call.bucket,
      Key: call.key,
      ETag: `"${record.etag}"`,
      ...(checksum ? { [checksumElement(checksum.algorithm)]: checksum.value, ChecksumType: checksum.type } : {}),
    },
    storedHeaders(record),
  );
}

function readParts(body: string): readonly RequestedPart[] {
  const root = parseXml(body);
  const parts = childrenNamed(root, "Part").map((element) => ({
    number: Number(childText(element, "PartNumber")),
    etag: (childText(element, "ETag") ?? "").trim().replace(/^"|"$/g, ""),
    element,
  }));
  if (root.name !== "CompleteMultipartUpload" || parts.length === 0) {
    throw malformedXml("a <CompleteMultipartUpload> with at least one <Part> is expected");
  }
  for (const [index, part] of parts.entries()) {
    if (!Number.isInteger(part.number) || part.number < 1) throw malformedXml("a <Part> has no valid <PartNumber>");
    if (index > 0 && part.number <= parts[index - 1]!.number) {
      throw new S3Error(
        400,
        "InvalidPartOrder",
        "The list of parts was not in ascending order. Parts must be ordered by part number.",
      );
    }
  }
  return parts;
}

function requirePart(call: Call, upload: Upload, requested: RequestedPart): NumberedPart {
  const invalid = new S3Error(
    400,
    "InvalidPart",
    "One or more of the specified parts could not be found. The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.",
    { extra: { UploadId: upload.uploadId, PartNumber: String(requested.number), ETag: requested.etag } },
  );
  const part = call.uploads.findPart(call.bucket, upload.uploadId, requested.number);
  if (part?.etag !== requested.etag) throw invalid;
  if (!upload.checksum) return part;
  const { algorithm, type } = upload.checksum;
  const claimed = childText(requested.element, checksumElement(algorithm));
  if (claimed === undefined && type === "COMPOSITE") {
    throw invalidRequest(
      `The upload was created using a ${algorithm.toLowerCase()} checksum. The complete request must include the checksum for each part. It was missing for part ${requested.number} in the request.`,
    );
  }
  if (claimed !== undefined && claimed !== part.checksum?.value) throw invalid;
  return part;
}

function requireSizes(parts: readonly NumberedPart[]): void {
  const small = parts.slice(0, -1).find((part) => part.size < smallestPart);
  if (!small) return;
  throw new S3Error(400, "EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size", {
    extra: {
      ProposedSize: String(small.size),
      MinSizeAllowed: String(smallestPart),
      PartNumber: String(small.number),
      ETag: small.etag,
    },
  });
}

function checkedChecksum(call: Call, upload: Upload, parts: readonly NumberedPart[]): Checksum | undefined {
  if (!upload.checksum) return undefined;
  const { algorithm, type } = upload.checksum;
  const checksum = combineChecksums(
    algorithm,
    type,
    parts.map((part) => ({ value: part.checksum!.value, size: part.size })),
  );
  const claimed = call.request.headers[checksumHeader(algorithm)];
  if (claimed !== undefined && String(claimed).replace(/-\d+$/, "") !== checksum.value.replace(/-\d+$/, "")) {
    throw checksumMismatch(algorithm);
  }
  return checksum;
}

function compositeEtag(parts: readonly NumberedPart[]): string {
  const md5 = createHash("md5");
  for (const part of parts) md5.update(Buffer.from(part.etag, "hex"));
  return `${md5.digest("hex")}-${parts.length}`;
}

const storedPart = ({ number, size, etag, checksum }: NumberedPart): StoredPart => ({
  number,
  size,
  etag,
  ...(checksum ? { checksum: checksum.value } : {}),
});
