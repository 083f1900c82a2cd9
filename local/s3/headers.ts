import type { IncomingHttpHeaders } from "node:http";
import { checksumHeader } from "./checksums";
import { invalidArgument, notImplemented, S3Error } from "./errors";
import type { ObjectRecord, Tags } from "./record";

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
const storageClasses = ["STANDARD", "STANDARD_IA", "ONEZONE_IA", "INTELLIGENT_TIERING", "GLACIER_IR"];

export type Description = Pick<ObjectRecord, "headers" | "metadata" | "tags" | "encryption" | "storageClass">;

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
  const storageClass = acceptedStorageClass(requestHeaders["x-amz-storage-class"]);
  refuseUnimplemented(requestHeaders);
  return {
    headers,
    metadata,
    tags: parseTagHeader(requestHeaders["x-amz-tagging"]),
    ...(encryption === undefined ? {} : { encryption }),
    ...(storageClass === undefined ? {} : { storageClass }),
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

function acceptedStorageClass(value: string | readonly string[] | undefined): string | undefined {
  if (value === undefined || value === "STANDARD") return undefined;
  if (storageClasses.includes(String(value))) return String(value);
  throw new S3Error(400, "InvalidStorageClass", `The storage class you specified is not valid: ${value}`);
}

/** Refuses headers that would change the meaning of the write and are not implemented. */
function refuseUnimplemented(headers: IncomingHttpHeaders): void {
  for (const name of Object.keys(headers)) {
    if (/^x-amz-(server-side-encryption-customer-|object-lock-|website-redirect-|write-offset-|grant-)/.test(name)) {
      throw notImplemented(`the header ${name}`);
    }
  }
  const acl = headers["x-amz-acl"];
  if (acl !== undefined && acl !== "private" && acl !== "bucket-owner-full-control") {
    throw new S3Error(400, "AccessControlListNotSupported", "The bucket does not allow ACLs");
  }
}

const tagCharacters = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;

const invalidTag = (message: string) => new S3Error(400, "InvalidTag", message);

/** Parses the tags in `x-amz-tagging`, which has the form of a query string. */
function parseTagHeader(value: string | readonly string[] | undefined): Tags {
  return value === undefined || value === "" ? [] : requireTags([...new URLSearchParams(String(value))]);
}

/**
 * Checks tags.
 * @throws S3Error 400 InvalidTag if they exceed S3's limits
 */
export function requireTags(tags: Tags): Tags {
  if (tags.length > 10) throw new S3Error(400, "BadRequest", "Object tags cannot be greater than 10");
  if (new Set(tags.map(([key]) => key)).size < tags.length) {
    throw invalidTag("Cannot provide multiple Tags with the same key");
  }
  for (const [key, value] of tags) {
    if (key.length < 1 || key.length > 128 || !tagCharacters.test(key))
      throw invalidTag("The TagKey you have provided is invalid");
    if (value.length > 256 || !tagCharacters.test(value)) throw invalidTag("The TagValue you have provided is invalid");
  }
  return tags;
}

/** Returns the headers of HeadObject and GetObject except length, range and checksum. */
export function objectHeaders(record: ObjectRecord, tagCount: number): Record<string, string> {
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
  if (record.storageClass) headers["x-amz-storage-class"] = record.storageClass;
  if (tagCount > 0) headers["x-amz-tagging-count"] = String(tagCount);
  return headers;
}

/** Returns the headers that answers to writes repeat. */
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

/** Returns the headers from `response-content-type=…` and similar parameters, which replace headers of one answer. */
export function responseOverrides(query: URLSearchParams): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [parameter, name] of overrides) {
    const value = query.get(parameter);
    if (value !== null) headers[name] = value;
  }
  return headers;
}
