import { createHash } from "node:crypto";
import { GetObjectCommand, HeadObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import type { ContentReference } from "../../core/shapes";
import { damageOf, isCutBody, isMissing, isServerFailure } from "./service-errors";

export interface FoundContent {
  readonly modified: Date | undefined;
  readonly contentType: string | undefined;
}

/**
 * Finds that content under that key. Returns undefined if the store does not have it. It compares the bytes, not only name and size. It uses
 * S3's own checksum if there is one, and otherwise reads the object.
 * @param parts SHA-256 of the parts in which the content would be uploaded, to compare with S3's checksum of a
 * multipart upload. `any` accepts every such checksum.
 */
export async function findContent(
  client: S3Client,
  object: { readonly Bucket: string; readonly Key: string },
  { sha256, bytes }: ContentReference,
  {
    parts = [],
    missing = isMissing,
  }: { readonly parts?: readonly Buffer[] | "any"; readonly missing?: (error: unknown) => boolean } = {},
): Promise<FoundContent | undefined> {
  let content: FoundContent = { modified: undefined, contentType: undefined };
  try {
    const head = await client.send(new HeadObjectCommand({ ...object, ChecksumMode: "ENABLED" }));
    content = { modified: head.LastModified, contentType: head.ContentType };
    const checksum = head.ChecksumSHA256;
    if (checksum !== undefined && !checksum.includes("-")) {
      return checksum === Buffer.from(sha256, "hex").toString("base64") ? content : undefined;
    }
    if ((head.ContentLength ?? 0) !== bytes) return undefined;
    if (checksum !== undefined && (parts === "any" || checksum === compositeOf(parts))) return content;
  } catch (error) {
    if (missing(error)) return undefined;
    // An answer to HEAD has no body. Only a read shows whether the object is damaged.
    if (!isServerFailure(error)) throw error;
  }
  return (await digestOfObject(client, object, missing)) === sha256 ? content : undefined;
}

/** Returns the SHA-256 (lowercase hex) of a stored object, or undefined if the object is missing or damaged. */
async function digestOfObject(
  client: S3Client,
  object: { readonly Bucket: string; readonly Key: string },
  missing: (error: unknown) => boolean,
): Promise<string | undefined> {
  try {
    const { Body } = await client.send(new GetObjectCommand(object));
    const hash = createHash("sha256");
    for await (const chunk of (Body ?? []) as AsyncIterable<Uint8Array>) hash.update(chunk);
    return hash.digest("hex");
  } catch (error) {
    if (missing(error) || damageOf(error) !== undefined || isCutBody(error)) return undefined;
    throw error;
  }
}

/** Returns S3's composite checksum: the digest of the parts' digests, and their number. */
function compositeOf(parts: readonly Buffer[]): string {
  return `${createHash("sha256").update(Buffer.concat(parts)).digest("base64")}-${parts.length}`;
}
