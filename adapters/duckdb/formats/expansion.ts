import * as fs from "node:fs";
import { pipeline, type Readable, Transform } from "node:stream";
import { createGunzip } from "node:zlib";
import { formatBytes } from "../../../core/quantities";

export interface ExpansionLimits {
  /** Maximum ratio of the expanded size to the compressed size. */
  readonly ratio: number;
  /** Expanded size in bytes below which the ratio does not matter. */
  readonly freeBytes: number;
}

/** Thrown by the stream of a file that expands too far. The message is a rule: "must …". */
export class ExpansionError extends Error {}

/** Returns the default limits. gzip stores a repeated byte in 1/1032 of its size; rows of real data reach 1/5 to 1/50. */
export function defaultLimits(): ExpansionLimits {
  const ratio = Number(process.env["RINGMASTER_MAX_EXPANSION"] ?? 200);
  return { ratio: ratio >= 1 ? ratio : 200, freeBytes: 256 * 1024 * 1024 };
}

/** Streams a file's bytes; of a `.gz` or `.tgz` file, the expanded ones. Emits an `ExpansionError` beyond the limits. */
export function openBytes(file: string, limits = defaultLimits()): Readable {
  const source = fs.createReadStream(file, { highWaterMark: 1024 * 1024 });
  if (!/\.t?gz$/i.test(file)) return source;
  const { size } = fs.statSync(file);
  const maxBytes = Math.max(limits.freeBytes, size * limits.ratio);
  let bytes = 0;
  const bounded = new Transform({
    readableHighWaterMark: 1024 * 1024,
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= maxBytes) return done(null, chunk);
      const rule =
        `must expand to at most ${formatBytes(maxBytes)} (${limits.ratio} times its ${formatBytes(size)}): check that the ` +
        "file holds the rows that you expect, or set RINGMASTER_MAX_EXPANSION to a larger ratio";
      done(new ExpansionError(rule));
    },
  });
  // The reader gets the error from the last stream.
  pipeline(source, createGunzip({ chunkSize: 256 * 1024 }), bounded, () => undefined);
  return bounded;
}
