import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { ApiClient } from "../client/api-client";
import { RingmasterError } from "../core/errors";
import { CorruptObjectError } from "../core/object-documents";
import { objectKeys } from "../core/object-keys";
import { unwritable } from "./write-file";

/** Thrown when the store did not return a content, or its bytes do not match the digest. */
export class DownloadError extends RingmasterError {
  constructor(message: string, cause?: unknown) {
    super(message, { code: "DOWNLOAD_FAILED", httpStatus: 502, retryable: true, cause });
  }
}

export async function download(client: ApiClient, digest: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of contentAt(await client.contentUrl(digest), digest)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/**
 * Downloads a content atomically, by a rename once the digest is verified. @throws DownloadError; CorruptObjectError if
 * the store reports damage; InvalidInputError if the file cannot be written
 */
export async function downloadFile(url: string, digest: string, file: string, option: string): Promise<void> {
  const target = await writableTarget(file, option);
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.part`);
  try {
    await pipeline(contentAt(url, digest), createWriteStream(temporary));
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error instanceof DownloadError || error instanceof CorruptObjectError
      ? error
      : unwritable(option, file, error);
  }
}

/**
 * Follows links, so that an existing link stays a link. Refuses a directory or a device, which a rename would replace.
 */
async function writableTarget(file: string, option: string): Promise<string> {
  const stored = await stat(file).catch(() => undefined);
  if (stored === undefined) return file;
  if (!stored.isFile()) throw unwritable(option, file, new Error("it exists and is not a regular file"));
  return realpath(file);
}

/** The embedded store's response describes the damage. A retry would not help. */
function refusedBy(status: number, answer: string, digest: string): RingmasterError {
  const damage = /<Damage>([^<]*)<\/Damage>/.exec(answer)?.[1];
  if (damage === undefined) return new DownloadError(`the store answered ${status} for content ${digest}; try again`);
  return new CorruptObjectError(objectKeys.content(digest), "the bytes that were stored", damage);
}

/** Yields a content's bytes and verifies them. If the digest is wrong, it throws after the last chunk. */
async function* contentAt(url: string, digest: string): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  try {
    const response = await fetch(url);
    if (!response.ok) throw refusedBy(response.status, await response.text(), digest);
    for await (const chunk of response.body ?? []) {
      hash.update(chunk);
      yield chunk;
    }
  } catch (cause) {
    if (cause instanceof DownloadError || cause instanceof CorruptObjectError) throw cause;
    throw new DownloadError(
      `content ${digest} could not be read to its end (${(cause as Error).message}); try again`,
      cause,
    );
  }
  const computed = hash.digest("hex");
  if (computed !== digest) {
    throw new DownloadError(
      `the downloaded bytes have the digest ${computed}, but must have ${digest}; the file was not written`,
    );
  }
}
