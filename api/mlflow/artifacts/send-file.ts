import type { Context } from "hono";
import type { Platform } from "../../../adapters/platform";
import { CorruptObjectError, ObjectNotFoundError } from "../../../core/object-documents";
import { objectKeys } from "../../../core/object-keys";
import type { ArtifactFile } from "../../../core/tracking/artifacts";
import type { ApiEnvironment } from "../../http/context";
import { doesNotExist, invalidParameter } from "../errors";
import { findExportedFile, listExportedFiles } from "../export-place";
import { baseName, type Place, trainedModelPlace } from "./places";

/** Extensions that are shown as text (`mlflow/utils/mime_type_utils.py`). */
const texts: ReadonlySet<string> = new Set([
  ...["txt", "log", "err", "cfg", "conf", "cnf", "cf", "ini", "properties", "prop", "hocon", "toml", "yaml", "yml"],
  ...["xml", "json", "js", "py", "py3", "csv", "tsv", "md", "rst", "ipynb", "MLmodel", "mlproject"],
]);

/** The part of Python's `mimetypes` that artifacts use. */
const types: Readonly<Record<string, string>> = {
  avi: "video/x-msvideo",
  bmp: "image/bmp",
  css: "text/css",
  gif: "image/gif",
  h5: "application/x-hdf5",
  hdf: "application/x-hdf",
  htm: "text/html",
  html: "text/html",
  ico: "image/vnd.microsoft.icon",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  mjs: "text/javascript",
  mov: "video/quicktime",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  mpeg: "video/mpeg",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  tar: "application/x-tar",
  tif: "image/tiff",
  tiff: "image/tiff",
  wasm: "application/wasm",
  wav: "audio/x-wav",
  webm: "video/webm",
  webp: "image/webp",
  zip: "application/zip",
};

/** Returns the media type of a file by its name; of a compressed file, that of its content. */
export function mediaTypeOf(name: string): string {
  const extension = extensionOf(name) ?? name;
  if (texts.has(extension)) return "text/plain";
  const unpacked = name.replace(/\.tgz$/i, ".tar.gz").replace(/\.(?:gz|bz2|xz|br|Z)$/, "");
  return types[extensionOf(unpacked)?.toLowerCase() ?? ""] ?? "application/octet-stream";
}

function extensionOf(name: string): string | undefined {
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot + 1) : undefined;
}

/** Builds `Content-Disposition` (RFC 6266): the file is downloaded, never shown as a page of this server. */
export function attachment(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is ASCII
  const ascii = /^[\u0000-\u007f]*$/.test(name);
  if (ascii) return `attachment; filename=${quoted(name)}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is not ASCII
  const plain = name.normalize("NFKD").replaceAll(/[^\u0000-\u007f]/g, "") || "download";
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename=${quoted(plain)}; filename*=UTF-8''${encoded}`;
}

function quoted(text: string): string {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(text) ? text : `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
}

/**
 * `stream` sends through the API. Behind a gateway (a few megabytes, maybe as text) it is a `redirect` to the store.
 */
export type Delivery = "stream" | "redirect";

const pieceBytes = 1024 * 1024;
const piecesAhead = 2;

export async function findFile(platform: Platform, place: Place): Promise<ArtifactFile> {
  const { artifacts } = platform;
  const { path } = place;
  const artifact =
    path === ""
      ? undefined
      : "owner" in place
        ? await artifacts.find(place.owner, path)
        : await findExportedFile(platform, place);
  if (artifact) return artifact;
  const inside = "owner" in place ? await artifacts.list(place.owner, path) : await listExportedFiles(platform, place);
  if (inside.length > 0) {
    throw invalidParameter(`Artifact path refers to a directory, not a file: '${path}'`);
  }
  const model = "owner" in place ? await trainedModelPlace(platform, place) : undefined;
  if (model) return findFile(platform, model);
  throw doesNotExist(`No such artifact: '${path}'`);
}

export async function sendFile(
  context: Context<ApiEnvironment>,
  platform: Platform,
  place: Place,
  delivery: Delivery,
): Promise<Response> {
  const file = await findFile(platform, place);
  const name = baseName(file.path);
  const headers = { "content-type": mediaTypeOf(name), "content-disposition": attachment(name) };
  if (delivery === "redirect") {
    const location = await platform.contentUrls.forDownload(file.sha256, {
      contentType: headers["content-type"],
      disposition: headers["content-disposition"],
    });
    return new Response(null, { status: 307, headers: { location, "cache-control": "no-store" } });
  }
  const range = rangeOf(context.req.header("range"), file.bytes);
  const common = {
    ...headers,
    etag: `"${file.sha256}"`,
    "accept-ranges": "bytes",
    "x-content-type-options": "nosniff",
  };
  if (range === "unsatisfiable") {
    return new Response(null, { status: 416, headers: { ...common, "content-range": `bytes */${file.bytes}` } });
  }
  const { start, end } = range ?? { start: 0, end: file.bytes };
  const isHead = context.req.method === "HEAD";
  if (!isHead && !range) await requireIntact(platform, file);
  return new Response(isHead ? null : await streamOf(platform, file.sha256, start, end), {
    status: range ? 206 : 200,
    headers: {
      ...common,
      "content-length": String(end - start),
      ...(range ? { "content-range": `bytes ${start}-${end - 1}/${file.bytes}` } : {}),
    },
  });
}

/** Parses one range, its end excluded; `undefined` for the whole file, also for several ranges (RFC 9110). */
function rangeOf(
  header: string | undefined,
  bytes: number,
): { readonly start: number; readonly end: number } | "unsatisfiable" | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header ?? "") ?? [];
  if (first === undefined || last === undefined || first + last === "") return undefined;
  const start = first === "" ? Math.max(0, bytes - Number(last)) : Number(first);
  const end = first === "" || last === "" ? bytes : Math.min(bytes, Number(last) + 1);
  return start >= bytes || start >= end ? "unsatisfiable" : { start, end };
}

/** Checks a file before the first byte is sent. Later, damage could only abort the connection. */
async function requireIntact({ objects }: Platform, { sha256, bytes }: ArtifactFile): Promise<void> {
  if (await objects.hasContent({ sha256, bytes }, "by-checksum")) return;
  const key = objectKeys.content(sha256);
  if ((await objects.size(key)) === undefined) throw new ObjectNotFoundError(key);
  throw new CorruptObjectError(key, `SHA-256 ${sha256}`, "other bytes");
}

/** Streams a file, one piece ahead of the reader. @throws CorruptObjectError if the first piece is damaged */
async function streamOf(
  { objects }: Platform,
  sha256: string,
  start: number,
  end: number,
): Promise<ReadableStream<Uint8Array>> {
  const key = objectKeys.content(sha256);
  const ahead: Promise<Uint8Array>[] = [];
  let at = start;
  const readAhead = () => {
    while (ahead.length < piecesAhead && at < end) {
      const piece = objects.getRange(key, at, Math.min(pieceBytes, end - at));
      piece.catch(() => undefined); // the reader gets the failure
      ahead.push(piece);
      at += pieceBytes;
    }
  };
  readAhead();
  await ahead[0];
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      readAhead();
      const next = await ahead.shift();
      if (next === undefined) controller.close();
      else controller.enqueue(next);
    },
  });
}
