import { createHash } from "node:crypto";
import { type BodyDigest, maxBodyBytes } from "../body";
import type { Call } from "../call";
import { type ChecksumAlgorithm, newHasher } from "../checksums";
import { isUnchanged, type Range } from "../conditions";
import { invalidArgument, invalidRequest, notImplemented, preconditionFailed, S3Error } from "../errors";
import { requireKey } from "../keys";
import type { OpenObject } from "../store";
import type { Write } from "./put";
import { readObject } from "./read";

export interface CopySource extends OpenObject {
  readonly bucket: string;
  readonly key: string;
}

export function openSource(call: Call): CopySource {
  const { headers } = call.request;
  const [path, version] = String(headers["x-amz-copy-source"]).split("?versionId=") as [string, string?];
  if (version !== undefined && version !== "null") throw notImplemented("object versions");
  const decoded = decodeSource(path).replace(/^\//, "");
  const slash = decoded.indexOf("/");
  const [bucket, key] = [decoded.slice(0, slash), decoded.slice(slash + 1)];
  if (slash < 1 || key === "") {
    throw invalidArgument(
      "Copy Source must mention the source bucket and key: sourcebucket/sourcekey",
      "x-amz-copy-source",
      path,
    );
  }
  const open = call.store.open(bucket, requireKey(key));
  try {
    if (isUnchanged(headers, open.record, "x-amz-copy-source-"))
      throw preconditionFailed("x-amz-copy-source-If-None-Match");
    return { ...open, bucket, key };
  } catch (error) {
    open.release();
    throw error;
  }
}

function decodeSource(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new S3Error(400, "InvalidArgument", "Copy Source must be URL-encoded");
  }
}

export async function copyBytes(
  call: Call,
  source: CopySource,
  range: Range,
  write: Write,
  { algorithm, sha256 = false }: { readonly algorithm?: ChecksumAlgorithm; readonly sha256?: boolean } = {},
): Promise<BodyDigest> {
  const size = range.end - range.start + 1;
  if (size > maxBodyBytes) {
    throw invalidRequest(
      `The specified copy source is larger than the maximum allowable size for a copy source: ${maxBodyBytes}`,
    );
  }
  const md5 = createHash("md5");
  const hasher = algorithm && newHasher(algorithm);
  const content = sha256 ? createHash("sha256") : undefined;
  for await (const block of readObject(call.store, source.bucket, source, range)) {
    md5.update(block);
    hasher?.update(block);
    content?.update(block);
    await write(block);
  }
  return {
    size,
    md5: md5.digest("hex"),
    ...(content ? { sha256: content.digest("hex") } : {}),
    ...(algorithm && hasher
      ? { checksum: { algorithm, type: "FULL_OBJECT", value: hasher.digest().toString("base64") } }
      : {}),
  };
}
