import { createHash } from "node:crypto";
import { GetObjectCommand, HeadObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import type { ContentReference } from "../../core/ports";
import { damageOf, isMissing, isServerFailure } from "./service-errors";

/**
 * Whether the store holds that content under that key: the bytes themselves, not an object of that name and size. S3's own checksum answers
 * this where it has one; otherwise the object is read.
 * @param parts SHA-256 of the parts that the content would be uploaded in, to compare with S3's checksum of a multipart upload; `any` accepts
 *   every such checksum
 */
export async function holdsContent(
  client: S3Client,
  object: { readonly Bucket: string; readonly Key: string },
  { sha256, bytes }: ContentReference,
  {
    parts = [],
    missing = isMissing,
  }: { readonly parts?: readonly Buffer[] | "any"; readonly missing?: (error: unknown) => boolean } = {},
): Promise<boolean> {
  try {
    const head = await client.send(new HeadObjectCommand({ ...object, ChecksumMode: "ENABLED" }));
    const known = head.ChecksumSHA256;
    if (known !== undefined && !known.includes("-")) return known === Buffer.from(sha256, "hex").toString("base64");
    if ((head.ContentLength ?? 0) !== bytes) return false;
    if (known !== undefined && (parts === "any" || known === compositeOf(parts))) return true;
  } catch (error) {
    if (missing(error)) return false;
    // An answer to HEAD has no body: whether it is damage, only a read can tell.
    if (!isServerFailure(error)) throw error;
  }
  return (await digestOfObject(client, object, missing)) === sha256;
}

/** Lowercase hex SHA-256 of what is stored; undefined where the object is missing or damaged. */
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

/** How S3 names the checksum of parts: of their digests, and how many they are. */
function compositeOf(parts: readonly Buffer[]): string {
  return `${createHash("sha256").update(Buffer.concat(parts)).digest("base64")}-${parts.length}`;
}

/** The store cuts the connection rather than send damaged bytes. */
export function isCutBody(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return code === "ECONNRESET" || code === "EPIPE" || error.message === "aborted";
}
