import type { ColumnSchema } from "../../core/datasets/shapes";
import { InvalidInputError } from "../../core/errors";
import type { TargetSize } from "./formats/image-header";
import { openSamples } from "./formats/open-samples";
import { reading } from "./formats/read-errors";
import { type DataFiles, type Format, listFiles, nameOfFiles, unusable } from "./formats/source-files";
import {
  assertSameColumns,
  openCsv,
  openJson,
  openParquet,
  problemOfType,
  type TableFile,
  unionOf,
} from "./formats/tables";
import type { DuckDbSession } from "./session";

export type { DataFiles } from "./formats/source-files";

export interface Source {
  readonly table: string;
  /** The DuckDB types of the columns, in the file's order. Values of CSV and JSON are always text. */
  readonly types: ReadonlyMap<string, string>;
  readonly files: readonly string[];
  readonly name: string;
  /** Runs a read of the table and converts DuckDB's errors to input errors. */
  reading<Result>(read: () => Promise<Result>): Promise<Result>;
  /** The schema's columns, if the format defines them. */
  readonly columns?: readonly ColumnSchema[];
  countRows(): Promise<readonly number[]>;
}

const openers: Readonly<
  Record<Exclude<Format, "sample" | "shard">, (session: DuckDbSession, file: string) => Promise<TableFile>>
> = {
  csv: openCsv,
  parquet: openParquet,
  json: openJson,
};

/**
 * Opens files of one format as a table, in the order of their names.
 *
 * @param size to which images are converted
 * @throws InvalidInputError if they cannot be read, lack columns, or have different columns
 */
export async function openSource(
  session: DuckDbSession,
  source: DataFiles,
  columns: readonly ColumnSchema[],
  size?: TargetSize,
): Promise<Source> {
  const { files, format } = await listFiles(session, source);
  if (format === "sample" || format === "shard") {
    const samples = await openSamples(session, files, format, size);
    assertColumns(nameOfFiles(files), samples.types, columns);
    return { ...samples, files, name: nameOfFiles(files), reading: (read) => read() };
  }
  if (size) throw unusable(nameOfFiles(files), "must be images where --size is given");
  const opened: TableFile[] = [];
  for (const file of files) opened.push(await reading(session, [file], () => openers[format](session, file)));
  // A key that no object of a file has is a missing value.
  const types = format === "json" ? new Map(opened.flatMap((one) => [...one.types])) : opened[0]!.types;
  if (format !== "json") assertSameColumns(opened);
  assertColumns(nameOfFiles(files), types, columns);
  const table = unionOf(opened, columns);
  return {
    ...{ table, types, files, name: nameOfFiles(files) },
    reading: (read) => reading(session, files, read),
    async countRows() {
      const counts: number[] = [];
      for (const one of opened) {
        const [row] = await session.rows(`SELECT count(*) AS "rows#" FROM ${one.read([one.file], columns)}`);
        counts.push(Number(row!["rows#"]));
      }
      return counts;
    },
  };
}

function assertColumns(name: string, types: ReadonlyMap<string, string>, columns: readonly ColumnSchema[]): void {
  const there = [...types.keys()];
  const problems = columns.flatMap((column) => {
    const [path, type] = [`columns.${column.name}`, types.get(column.name)];
    if (type !== undefined) {
      const problem = problemOfType(type);
      return problem === undefined ? [] : [{ path, value: type, rule: `${problem}, or leave it out of the schema` }];
    }
    const rule = `must be in the file, whose columns are ${there.slice(0, 30).join(", ")}${there.length > 30 ? ", …" : ""}`;
    return [{ path, rule }];
  });
  if (problems.length > 0) throw new InvalidInputError(`${name} does not fit the schema`, problems);
}
