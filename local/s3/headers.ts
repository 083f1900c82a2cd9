import type { IncomingHttpHeaders } from "node:http";
import { checksumHeader } from "./checksums";
import { invalidArgument, notImplemented, S3Error } from "./errors";
import type { ObjectRecord } from "./record";

const keptHeaders = [
  "content-type",
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-language",
  "expires",
];
const metadataPrefix = "x-amz-meta-";
const maxMetadataBytes = 2048;

export type Description = Pick<ObjectRecord, "headers" | "metadata" | "encryption">;

/** Reads the headers that describe the object to write. @throws S3Error if a header is not implemented or invalid */
export function describeObject(requestHeaders: IncomingHttpHeaders): Description {
  const headers: Record<string, string> = {};
  for (const name of keptHeaders) {
    const value = requestHeaders[name];
    if (value !== undefined && value !== "") headers[name] = String(value);
  }
  const encoding = withoutAwsChunked(headers["content-encoding"]);
  if (encoding === undefined) delete headers["content-encoding"];
  else headers["content-encoding"] = encoding;
  headers["content-type"] ??= "binary/octet-stream";

  const metadata: Record<string, string> = {};
  let metadataBytes = 0;
  for (const [name, value] of Object.entries(requestHeaders)) {
    if (!name.startsWith(metadataPrefix)) continue;
    metadata[name.slice(metadataPrefix.length)] = String(value);
    metadataBytes += name.length - metadataPrefix.length + String(value).length;
  }
  if (metadataBytes > maxMetadataBytes) {
    throw new S3Error(400, "MetadataTooLarge", "Your metadata headers exceed the maximum allowed metadata size", {
      extra: { Size: String(metadataBytes), MaxSizeAllowed: String(maxMetadataBytes) },
    });
  }
  const encryption = acceptedEncryption(requestHeaders);
  refuseUnimplemented(requestHeaders);
  return {
    headers,
    metadata,
    ...(encryption === undefined ? {} : { encryption }),
  };
}

function withoutAwsChunked(encoding: string | undefined): string | undefined {
  const left = (encoding ?? "")
    .split(",")
    .map((token) => token.trim())
    .filter((token) => token !== "" && token.toLowerCase() !== "aws-chunked");
  return left.length > 0 ? left.join(",") : undefined;
}

function acceptedEncryption(headers: IncomingHttpHeaders): string | undefined {
  const value = headers["x-amz-server-side-encryption"];
  if (value === undefined || value === "AES256") return value;
  if (String(value).startsWith("aws:kms")) throw notImplemented(`server-side encryption by ${value}`);
  throw invalidArgument(
    "The encryption method specified is not supported",
    "x-amz-server-side-encryption",
    String(value),
  );
}

/** Refuses headers that would change the meaning of the write and are not implemented. */
function refuseUnimplemented(headers: IncomingHttpHeaders): void {
  for (const name of Object.keys(headers)) {
    if (
      /^x-amz-(server-side-encryption-customer-|object-lock-|website-redirect-|write-offset-|grant-|tagging$)/.test(
        name,
      )
    ) {
      throw notImplemented(`the header ${name}`);
    }
  }
  const storageClass = headers["x-amz-storage-class"] ?? "STANDARD";
  if (storageClass !== "STANDARD") throw notImplemented(`the storage class ${storageClass}`);
  const acl = headers["x-amz-acl"];
  if (acl !== undefined && acl !== "private" && acl !== "bucket-owner-full-control") {
    throw new S3Error(400, "AccessControlListNotSupported", "The bucket does not allow ACLs");
  }
}

export function objectHeaders(record: ObjectRecord): Record<string, string> {
  const headers: Record<string, string> = {
    ...record.headers,
    "accept-ranges": "bytes",
    etag: `"${record.etag}"`,
    "last-modified": new Date(record.modified).toUTCString(),
    // The bucket keeps only the newest version. Its id lets a client delete it and no newer one.
    "x-amz-version-id": record.writeId,
    ...storedHeaders(record),
  };
  for (const [name, value] of Object.entries(record.metadata)) headers[metadataPrefix + name] = value;
  return headers;
}

export function storedHeaders(record: Pick<ObjectRecord, "encryption">): Record<string, string> {
  return record.encryption ? { "x-amz-server-side-encryption": record.encryption } : {};
}

export function checksumHeaders(record: Pick<ObjectRecord, "checksum">): Record<string, string> {
  const { checksum } = record;
  if (!checksum) return {};
  return { [checksumHeader(checksum.algorithm)]: checksum.value, "x-amz-checksum-type": checksum.type };
}

/**
 * Returns a `Content-Disposition` that saves the object to a file. A browser must never show stored content as a page
 * of this port, whatever the object's headers or the query request. Amazon's S3 uses the requested value, because its
 * origin protects nothing.
 */
export function attachmentOf(disposition: string | undefined): string {
  if (disposition === undefined) return "attachment";
  const [, parameters = ""] = /^[^;]*(;.*)?$/s.exec(disposition) ?? [];
  return /^\s*attachment\s*(?:;|$)/i.test(disposition) ? disposition : `attachment${parameters}`;
}

const overrides: ReadonlyMap<string, string> = new Map(keptHeaders.map((name) => [`response-${name}`, name]));

export function responseOverrides(query: URLSearchParams): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [parameter, name] of overrides) {
    const value = query.get(parameter);
    if (value !== null) headers[name] = value;
  }
  return headers;
}
