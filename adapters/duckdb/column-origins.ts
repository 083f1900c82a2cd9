import * as z from "zod";
import type { DatasetSchema } from "../../core/datasets/schema";
import { type ColumnOrigin, columnOrigin } from "../../core/datasets/shapes";
import { InvalidInputError, type Problem } from "../../core/errors";
import { namesIn, type ViewVersion } from "../../core/feature-store/shapes";
import { reading } from "./formats/read-errors";
import { listFiles } from "./formats/source-files";
import { type DuckDbSession, quoteText } from "./session";
import type { DataFiles } from "./source";

/** Key of Parquet's metadata under which joined rows name the views of their columns. */
const metadataKey = "ringmaster_features";
/** Key under which they name the columns that identified the rows of the views: entities and the time. */
const joinKeysKey = "ringmaster_join_keys";

const originsOfColumns = z.record(z.string(), columnOrigin);
const joinKeys = z.array(z.string());

/**
 * Returns the option of COPY that stores in a Parquet file which of its columns are features of views, and which identified the
 * views' rows.
 *
 * @param time column of the time of the join
 */
export function originsOption(versions: readonly ViewVersion[], fullNames: boolean, time: string): string {
  const origins: Record<string, ColumnOrigin> = {};
  const keys = new Set([time]);
  for (const version of versions) {
    for (const entity of version.definition.entities) keys.add(entity);
    const view = `${version.name}@${version.version}`;
    for (const [feature, shown] of namesIn(version, fullNames)) origins[shown] = { view, feature };
  }
  return `KV_METADATA {${metadataKey}: ${quoteText(JSON.stringify(origins))}, ${joinKeysKey}: ${quoteText(JSON.stringify([...keys]))}}`;
}

/**
 * Returns the schema with the origins of columns that Parquet files name. A column that the schema gives an origin must
 * have the same one in the files.
 *
 * @param fixed whether the schema is that of an earlier version, to which rows are appended
 * @throws InvalidInputError if the origins differ
 */
export async function withOrigins(
  session: DuckDbSession,
  source: DataFiles,
  schema: DatasetSchema,
  fixed: boolean,
): Promise<DatasetSchema> {
  const { files, format } = await listFiles(session, source);
  if (format !== "parquet") return schema;
  const origins = new Map<string, ColumnOrigin>();
  const problems: Problem[] = [];
  for (const file of files) {
    for (const [name, origin] of Object.entries(await originsIn(session, file))) {
      const earlier = origins.get(name) ?? schema.columns.find((column) => column.name === name)?.from;
      if (earlier !== undefined && !isEqual(earlier, origin)) {
        const rule = `must be ${textOf(earlier)}, as in the schema and the other files; ${file} was joined with another view`;
        problems.push({ path: `columns.${name}.from`, value: textOf(origin), rule });
      } else origins.set(name, origin);
    }
  }
  if (problems.length > 0) throw new InvalidInputError("the columns' feature views", problems.slice(0, 20));
  if (fixed) return schema;
  const columns = schema.columns.map((column) => {
    const from = column.role === "label" ? undefined : origins.get(column.name);
    return from === undefined ? column : { ...column, from };
  });
  return { ...schema, columns };
}

interface JoinedColumns {
  readonly features: ReadonlySet<string>;
  /** Entities and the time. */
  readonly keys: ReadonlySet<string>;
}

export async function joinedColumns(session: DuckDbSession, source: DataFiles): Promise<JoinedColumns> {
  const { files, format } = await listFiles(session, source);
  const [features, keys] = [new Set<string>(), new Set<string>()];
  for (const file of format === "parquet" ? files : []) {
    for (const name of Object.keys(await originsIn(session, file))) features.add(name);
    for (const name of (await metadataIn(session, file, joinKeysKey, joinKeys)) ?? []) keys.add(name);
  }
  return { features, keys };
}

async function originsIn(session: DuckDbSession, file: string): Promise<Readonly<Record<string, ColumnOrigin>>> {
  return (await metadataIn(session, file, metadataKey, originsOfColumns)) ?? {};
}

/** Returns the metadata of a Parquet file under a key; `undefined` if there is none. @throws InvalidInputError */
async function metadataIn<Value>(
  session: DuckDbSession,
  file: string,
  key: string,
  schema: z.ZodType<Value>,
): Promise<Value | undefined> {
  const query = `SELECT decode(value) AS "text#" FROM parquet_kv_metadata(${quoteText(file)}) WHERE decode(key) = '${key}'`;
  const [row] = await reading(session, [file], () => session.rows(query));
  if (row === undefined) return undefined;
  try {
    return schema.parse(JSON.parse(String(row["text#"])));
  } catch (cause) {
    const rule = `must have the views of its columns and the keys of the join as ringmaster views join writes them (${key})`;
    throw new InvalidInputError("the columns' feature views", [{ path: file, rule }], cause);
  }
}

function isEqual(a: ColumnOrigin, b: ColumnOrigin): boolean {
  return a.view === b.view && a.feature === b.feature;
}

function textOf({ view, feature }: ColumnOrigin): string {
  return `${feature} of ${view}`;
}
