import { ARRAY, DuckDBArrayValue, DuckDBDataChunk, type DuckDBValue, UTINYINT, VARCHAR } from "@duckdb/node-api";
import type { ColumnSchema } from "../../../core/datasets/shapes";
import { InvalidInputError } from "../../../core/errors";
import { type DuckDbSession, quoteName } from "../session";

/** Eight-bit pixels, row-major, the channels of a pixel together. */
export interface Pixels {
  readonly height: number;
  readonly width: number;
  readonly channels: 1 | 3;
  readonly data: Uint8Array;
}

/**
 * Resizes by a triangle filter whose support grows with the reduction, like Pillow's `BILINEAR`: reductions average all
 * pixels.
 */
export function resize(image: Pixels, height: number, width: number): Pixels {
  if (image.height === height && image.width === width) return image;
  const { channels } = image;
  const across = filterOf(image.width, width);
  const down = filterOf(image.height, height);
  const rows = new Float64Array(image.height * width * channels);
  for (let y = 0; y < image.height; y += 1) {
    for (const [x, { first, weights }] of across.entries()) {
      for (let c = 0; c < channels; c += 1) {
        let sum = 0;
        for (let i = 0; i < weights.length; i += 1) {
          sum += weights[i]! * image.data[(y * image.width + first + i) * channels + c]!;
        }
        rows[(y * width + x) * channels + c] = sum;
      }
    }
  }
  const data = new Uint8Array(height * width * channels);
  for (const [y, { first, weights }] of down.entries()) {
    for (let at = 0; at < width * channels; at += 1) {
      let sum = 0;
      for (let i = 0; i < weights.length; i += 1) sum += weights[i]! * rows[(first + i) * width * channels + at]!;
      data[y * width * channels + at] = Math.min(255, Math.max(0, Math.round(sum)));
    }
  }
  return { height, width, channels, data };
}

/** Returns the first source position and the weights of each target position. */
function filterOf(from: number, to: number): readonly { readonly first: number; readonly weights: Float64Array }[] {
  const scale = from / to;
  const support = Math.max(1, scale);
  return Array.from({ length: to }, (_, index) => {
    const centre = (index + 0.5) * scale;
    const first = Math.max(0, Math.floor(centre - support + 0.5));
    const end = Math.min(from, Math.floor(centre + support + 0.5));
    const weights = Float64Array.from({ length: end - first }, (_weight, i) =>
      Math.max(0, 1 - Math.abs((first + i + 0.5 - centre) / support)),
    );
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return { first, weights: weights.map((weight) => weight / sum) };
  });
}

export interface Sample {
  /** Path of its file for messages. */
  readonly path: string;
  readonly label: string;
  /** Class and file name, the same on every machine. */
  readonly file: string;
  readonly image?: Pixels;
  readonly text?: string;
}

interface SampleTable {
  readonly types: ReadonlyMap<string, string>;
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
