import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { makeTemporaryFolder } from "../../adapters/duckdb/temporary-folder";
import { createPause } from "../../core/backoff";
import { InvalidInputError, RingmasterError } from "../../core/errors";
import { formatBytes } from "../../core/quantities";
import { hasPassword, hidePassword, passwordRule } from "../../core/url-password";
import { withIdleLimit } from "./idle-limit";
import type { RemoteFile, RemotePart } from "./remote-file";
import { renamedError } from "./renamed-error";

const attempts = 5;
const pause = createPause({ firstMs: 200, maxMs: 5_000, minShare: 0.5 }, sleep, Math.random);

export function isRemote(source: string): boolean {
  return /^(s3|https?):\/\//i.test(source);
}

/**
 * Downloads remote sources to a temporary folder while `work` runs, and continues cut connections. @throws
 * InvalidInputError if a source cannot be read, and the errors of `work`
 */
export async function withLocalSources<Result>(
  sources: readonly string[],
  onDownload: (source: string) => void,
  work: (sources: readonly string[], nameOf?: (text: string) => string) => Promise<Result>,
): Promise<Result> {
  if (!sources.some(isRemote)) return work(sources);
  const directory = makeTemporaryFolder("sources");
  const folders = sources.map((source, index) => (isRemote(source) ? path.join(directory, String(index)) : source));
  const roots = sources.map((source) => source.replace(/[?#].*$/, "").replace(/[^/]*$/, ""));
  /** Names remote files by their addresses. The last folder is first, because `…/1` is the beginning of `…/10`. */
  const nameOf = (text: string): string =>
    folders.reduceRight((named, folder, index) => {
      const root = roots[index]!;
      return isRemote(sources[index]!) ? named.replaceAll(`${folder}/`, root).replaceAll(folder, root) : named;
    }, text);
  try {
    for (const [index, source] of sources.entries()) {
      if (!isRemote(source)) continue;
      if (hasPassword(source)) throw unreadable(hidePassword(source), passwordRule);
      onDownload(source);
      const files = await filesOf(source);
      // A prefix may lack its last slash. The address of a file ends with the file's name.
      if (/^s3:/i.test(source) && !files.some(({ name }) => source.endsWith(`/${name}`)))
        roots[index] = source.replace(/\/*$/, "/");
      for (const file of files) await download(source, file, folders[index]!);
    }
    return await work(folders, nameOf);
  } catch (error) {
    if (!(error instanceof RingmasterError)) throw error;
    throw renamedError(error, nameOf);
  } finally {
    fs.rmSync(directory, { recursive: true, force: true });
  }
}

async function filesOf(source: string): Promise<readonly RemoteFile[]> {
  if (/^s3:/i.test(source)) {
    // Loaded by those who read from S3.
    const { listS3Files } = await import("./s3-source");
    return listS3Files(source);
  }
  const url = new URL(source);
  return [
    { name: decodeURIComponent(path.posix.basename(url.pathname)), open: (from, tag) => openUrl(url, from, tag) },
  ];
}

async function openUrl(url: URL, from: number, tag: string | undefined): Promise<RemotePart> {
  const headers = {
    "accept-encoding": "identity",
    ...(from > 0 ? { range: `bytes=${from}-` } : {}),
    ...(tag && from > 0 ? { "if-range": tag } : {}),
  };
  const { response, body } = await withIdleLimit(
    (signal) => fetch(url, { headers, signal }),
    (answer) => Readable.fromWeb(answer.body as never),
  );
  if (!response.ok) {
    await response.body?.cancel();
    if (response.status >= 500 || response.status === 429) throw new Error(`status ${response.status}`);
    throw unreadable(url.href, `must be readable, and the server answers with status ${response.status}`);
  }
  const etag = tagOf(response.headers);
  const isContinued = response.status === 206 && (tag === undefined || etag === undefined || etag === tag);
  if (from > 0 && !isContinued) {
    await response.body?.cancel();
    throw unreadable(
      url.href,
      "must not change while it is read, and its server must support ranges to continue after a cut",
    );
  }
  const length = Number(response.headers.get("content-length") ?? Number.NaN);
  return {
    body: body(),
    tag: etag,
    bytes: Number.isNaN(length) ? undefined : from + length,
  };
}

/** Returns what identifies the content: a strong ETag, or else the time of its last change. */
function tagOf(headers: Headers): string | undefined {
  const etag = headers.get("etag");
  return (etag?.startsWith("W/") ? undefined : etag) ?? headers.get("last-modified") ?? undefined;
}

export async function download(source: string, remote: RemoteFile, folder: string): Promise<void> {
  const file = path.join(folder, remote.name);
  if (!file.startsWith(`${folder}${path.sep}`))
    throw unreadable(source, `must have names below it, and has ${remote.name}`);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const output = await fs.promises.open(file, "w");
  let [at, tag] = [0, undefined as string | undefined];
  try {
    for (let failures = 0; ; ) {
      const before = at;
      try {
        const part = await remote.open(at, tag);
        tag = part.tag;
        assertRoom(source, folder, (part.bytes ?? 0) - at);
        for await (const chunk of part.body) {
          await output.writeFile(chunk);
          at += chunk.length;
        }
        if (part.bytes === undefined || at >= part.bytes) return;
        throw new Error(`the connection ended after ${at} of ${part.bytes} bytes`);
      } catch (error) {
        if (error instanceof RingmasterError || (error as NodeJS.ErrnoException).code === "ENOSPC") throw error;
        failures = at > before ? 1 : failures + 1;
        if (failures === attempts)
          throw unreadable(source, `must be readable, and failed ${attempts} times: ${reasonOf(error)}`, error);
        await pause(failures);
      }
    }
  } finally {
    await output.close();
  }
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

function assertRoom(source: string, folder: string, bytes: number): void {
  const { bavail, bsize } = fs.statfsSync(folder);
  if (bytes <= bavail * bsize) return;
  throw unreadable(
    source,
    `must fit on the disk: ${formatBytes(bytes)} are left to read, and ${os.tmpdir()} has ${formatBytes(bavail * bsize)} free; set TMPDIR to a larger disk`,
  );
}

function unreadable(source: string, rule: string, cause?: unknown): InvalidInputError {
  return new InvalidInputError(
    "the source cannot be used",
    [{ path: "source", value: source.replace(/\?.*$/, ""), rule }],
    cause,
  );
}
