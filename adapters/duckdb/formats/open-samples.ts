import { emptyDataset } from "../../../core/datasets/errors";
import type { ColumnSchema } from "../../../core/datasets/shapes";
import { digestOf } from "../../../core/digest";
import type { DuckDbSession } from "../session";
import type { TargetSize } from "./image-header";
import { nameOfFiles } from "./source-files";

interface OpenedSamples {
  readonly table: string;
  readonly types: ReadonlyMap<string, string>;
  readonly columns: readonly ColumnSchema[];
  countRows(): Promise<readonly number[]>;
}

const opened = new WeakMap<DuckDbSession, Map<string, Promise<OpenedSamples>>>();

/** Reads images, texts or tar shards into a table, once in a session. @throws InvalidInputError, EMPTY_DATASET */
export async function openSamples(
  session: DuckDbSession,
  files: readonly string[],
  format: "sample" | "shard",
  size: TargetSize | undefined,
): Promise<OpenedSamples> {
  const tables = opened.get(session) ?? new Map<string, Promise<OpenedSamples>>();
  opened.set(session, tables);
  const key = digestOf({ format, size: size ?? null, files });
  const samples = tables.get(key) ?? load(session, `samples_${tables.size}`, files, format, size);
  tables.set(key, samples);
  return samples;
}

async function load(
  session: DuckDbSession,
  table: string,
  files: readonly string[],
  format: "sample" | "shard",
  size: TargetSize | undefined,
): Promise<OpenedSamples> {
  // Loaded on first use, because most sources need no decoders of images.
  const { readSampleFiles, readShardSamples } = await import("./samples");
  const { writeSamples } = await import("./sample-table");
  const counts = new Array<number>(files.length).fill(format === "sample" ? 1 : 0);
  const samples =
    format === "sample"
      ? readSampleFiles(files, size)
      : readShardSamples(files, size, (shard) => {
          counts[shard]! += 1;
        });
  const written = await writeSamples(session, table, samples);
  if (!written) throw emptyDataset(nameOfFiles(files));
  return { table, ...written, countRows: () => Promise.resolve(counts) };
}
