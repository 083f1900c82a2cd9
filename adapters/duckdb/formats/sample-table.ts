import { ARRAY, DuckDBArrayValue, DuckDBDataChunk, type DuckDBValue, UTINYINT, VARCHAR } from "@duckdb/node-api";
import type { ColumnSchema } from "../../../core/datasets/shapes";
import { InvalidInputError } from "../../../core/errors";
import { type DuckDbSession, quoteName } from "../session";
import type { Pixels } from "./resize";

/** A row of an image or a text, or of both. */
export interface Sample {
  /** Path of its file for messages. */
  readonly path: string;
  readonly label: string;
  /** Class and file name, the same on every machine. */
  readonly file: string;
  readonly image?: Pixels;
  readonly text?: string;
}

/** Samples in a table of the session. */
export interface SampleTable {
  readonly types: ReadonlyMap<string, string>;
  /** The columns, as a schema file describes them. */
  readonly columns: readonly ColumnSchema[];
}

/** Samples are appended in chunks of at most so many rows and bytes. */
const chunkRows = 2_048;
const chunkBytes = 16 * 1024 * 1024;

/**
 * Writes samples as a table. The first one determines the columns and the size of the images.
 *
 * @throws InvalidInputError if a sample differs from the first one
 */
export async function writeSamples(
  session: DuckDbSession,
  table: string,
  samples: AsyncIterable<Sample>,
): Promise<SampleTable | undefined> {
  let first: Sample | undefined;
  let rows: Sample[] = [];
  let bytes = 0;
  let append: ((some: readonly Sample[]) => void) | undefined;
  let close = (): void => undefined;
  for await (const sample of samples) {
    if (append === undefined) {
      first = sample;
      const declared = typesOf(sample).map(([name, type]) => `${quoteName(name)} ${type}`);
      await session.run(`CREATE OR REPLACE TABLE ${table} (${declared.join(", ")})`);
      const appender = await session.connection.createAppender(table);
      append = (some) => appender.appendDataChunk(chunkOf(some));
      close = () => appender.closeSync();
    } else assertLike(first!, sample);
    rows.push(sample);
    bytes += (sample.image?.data.length ?? 0) + (sample.text?.length ?? 0);
    if (rows.length < chunkRows && bytes < chunkBytes) continue;
    append(rows);
    rows = [];
    bytes = 0;
  }
  if (first === undefined) return undefined;
  if (rows.length > 0) append?.(rows);
  close();
  return { types: new Map(typesOf(first)), columns: columnsOf(first) };
}

function typesOf({ image, text }: Sample): readonly (readonly [string, string])[] {
  return [
    ...(image ? ([["image", `UTINYINT[${image.data.length}]`]] as const) : []),
    ...(text === undefined ? [] : ([["text", "VARCHAR"]] as const)),
    ["label", "VARCHAR"],
    ["file", "VARCHAR"],
  ];
}

function columnsOf({ image, text }: Sample): readonly ColumnSchema[] {
  return [
    ...(image
      ? [
          {
            name: "image",
            type: "tensor" as const,
            shape: [image.height, image.width, image.channels],
            role: "feature" as const,
          },
        ]
      : []),
    ...(text === undefined ? [] : [{ name: "text", type: "string" as const, role: "feature" as const }]),
    { name: "label", type: "string", role: "label" },
    { name: "file", type: "string", role: "ignore" },
  ];
}

function chunkOf(rows: readonly Sample[]): DuckDBDataChunk {
  const [first] = rows as readonly [Sample, ...Sample[]];
  const types = typesOf(first);
  const size = first.image?.data.length ?? 0;
  const chunk = DuckDBDataChunk.create(
    types.map(([name]) => (name === "image" ? ARRAY(UTINYINT, size) : VARCHAR)),
    rows.length,
  );
  for (const [index, [name]] of types.entries()) {
    const cellOf = (row: Sample): DuckDBValue =>
      // Its items are only read by their index.
      name === "image"
        ? new DuckDBArrayValue(row.image!.data as unknown as readonly DuckDBValue[])
        : (row[name as "text" | "label" | "file"] ?? null);
    chunk.setColumnValues(index, rows.map(cellOf));
  }
  return chunk;
}

function assertLike(first: Sample, sample: Sample): void {
  const shape = ({ image }: Sample): string => (image ? `${image.height}x${image.width}x${image.channels}` : "none");
  const problem = (path: string, rule: string) =>
    new InvalidInputError(`${sample.path} cannot be used`, [{ path, rule }]);
  if ((first.image === undefined) !== (sample.image === undefined)) {
    throw problem(
      "image",
      `must be in every sample or in none, and ${first.path} has ${first.image ? "one" : "none"}; remove one of the files`,
    );
  }
  if (shape(first) !== shape(sample)) {
    const rule = `must have the size of ${first.path}, ${shape(first)}, and has ${shape(sample)}; convert all images with --size, such as --size ${shape(first)}`;
    throw problem("image", rule);
  }
  if ((first.text === undefined) !== (sample.text === undefined)) {
    throw problem("text", `must be in every sample or in none, as in ${first.path}`);
  }
}
