import { isUtf8 } from "node:buffer";
import * as fs from "node:fs";
import * as path from "node:path";
import { extract } from "tar-stream";
import { InvalidInputError } from "../../../core/errors";
import { formatBytes } from "../../../core/quantities";
import { decodeImage } from "./decode-image";
import { ExpansionError, openBytes } from "./expansion";
import type { TargetSize } from "./image-header";
import type { Sample } from "./sample-table";

/** The maximum size of the file of a sample. */
const maxSampleBytes = 64 * 1024 * 1024;
/** The maximum size of a text: DuckDB's rows are processed 2,048 at a time. */
const maxTextBytes = 256 * 1024;

/** Yields an image or a text from each file. The label is the name of the file's folder. */
export async function* readSampleFiles(files: readonly string[], size: TargetSize | undefined): AsyncGenerator<Sample> {
  let wanted = size;
  for (const file of files) {
    const { size: bytes } = fs.statSync(file);
    if (bytes > maxSampleBytes) throw unreadable(file, `must have at most ${formatBytes(maxSampleBytes)}`);
    const label = path.basename(path.dirname(path.resolve(file)));
    const sample = { path: file, label, file: `${label}/${path.basename(file)}` };
    const content = fs.readFileSync(file);
    if (/\.txt$/i.test(file)) yield { ...sample, text: textOf(content, file) };
    else {
      const image = decodeImage(content, file, wanted);
      wanted = size && { ...size, channels: image.channels };
      yield { ...sample, image };
    }
  }
}

/**
 * Yields the samples of tar shards (WebDataset): consecutive members with the same name up to its first dot. `.png`,
 * `.jpg` and `.jpeg` are the image, `.txt` the text and `.cls` the label, which is otherwise the member's folder. Other
 * members are left out.
 */
export async function* readShardSamples(
  shards: readonly string[],
  size: TargetSize | undefined,
  onSample: (shard: number) => void,
): AsyncGenerator<Sample> {
  let wanted = size;
  for (const [index, shard] of shards.entries()) {
    let current: { key: string; members: Map<string, Buffer> } | undefined;
    const finish = (): Sample | undefined => {
      if (!current || current.members.size === 0) return undefined;
      const sample = sampleOf(shard, current.key, current.members, wanted);
      if (size && sample.image) wanted = { ...size, channels: sample.image.channels };
      onSample(index);
      return sample;
    };
    for await (const { name, content } of readMembers(shard)) {
      const base = path.posix.basename(name);
      const [stem = ""] = base.split(".", 1);
      const key = path.posix.join(path.posix.dirname(name), stem);
      if (current?.key !== key) {
        const sample = finish();
        if (sample) yield sample;
        current = { key, members: new Map() };
      }
      current.members.set(base.slice(stem.length + 1).toLowerCase(), content);
    }
    const last = finish();
    if (last) yield last;
  }
}

function sampleOf(
  shard: string,
  key: string,
  members: ReadonlyMap<string, Buffer>,
  size: TargetSize | undefined,
): Sample {
  const place = `${shard}, member ${key}`;
  const image = members.get("png") ?? members.get("jpg") ?? members.get("jpeg");
  const text = members.get("txt");
  if (image === undefined && text === undefined)
    throw unreadable(place, "must have an image (.png, .jpg) or a text (.txt)");
  const folder = path.posix.basename(path.posix.dirname(key));
  const label = members.get("cls")?.toString("utf8").trim() || (folder === "." ? "" : folder);
  if (label === "") throw unreadable(place, "must have a label: a member .cls, or a folder with the name of its class");
  return {
    ...{ path: place, label, file: key },
    ...(image ? { image: decodeImage(image, place, size) } : {}),
    ...(text ? { text: textOf(text, place) } : {}),
  };
}

const used = /\.(png|jpe?g|txt|cls)$/i;

async function* readMembers(shard: string): AsyncGenerator<{ readonly name: string; readonly content: Buffer }> {
  const bytes = openBytes(shard);
  const members = extract();
  bytes.on("error", (error) => members.destroy(error)).pipe(members);
  let complete = false;
  try {
    for await (const member of members) {
      const { name, size = 0, type } = member.header;
      if (type !== "file" || !used.test(name) || path.posix.basename(name).startsWith(".")) {
        member.resume();
        continue;
      }
      if (size > maxSampleBytes)
        throw unreadable(`${shard}, member ${name}`, `must have at most ${formatBytes(maxSampleBytes)}`);
      const chunks: Buffer[] = [];
      for await (const chunk of member) chunks.push(chunk as Buffer);
      yield { name, content: Buffer.concat(chunks) };
    }
    complete = true;
  } catch (error) {
    if (error instanceof InvalidInputError) throw error;
    const rule =
      error instanceof ExpansionError
        ? error.message
        : `must be a complete tar file: ${(error as Error).message}; copy it again`;
    throw unreadable(shard, rule, error);
  } finally {
    if (!complete) bytes.destroy();
  }
}

function textOf(content: Buffer, file: string): string {
  if (content.length > maxTextBytes) throw unreadable(file, `must have at most ${formatBytes(maxTextBytes)} of text`);
  if (!isUtf8(content) || content.includes(0)) {
    throw unreadable(file, "must be UTF-8 without zero bytes; convert it: iconv -f WINDOWS-1252 -t UTF-8");
  }
  return content.toString("utf8").replace(/^\uFEFF/, ""); // a byte order mark is no text
}

function unreadable(file: string, rule: string, cause?: unknown): InvalidInputError {
  return new InvalidInputError(`${file} cannot be read`, [{ path: "", rule }], cause);
}
