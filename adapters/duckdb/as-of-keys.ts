import { join } from "node:path";
import { type DuckDbSession, quoteName, quoteText } from "./session";

/** An enumeration of texts, which a DuckDB creates from a Parquet file. */
export interface Enumeration {
  readonly name: string;
  readonly file: string;
}

/** Columns of an entity. */
export type KeyColumns = readonly { readonly column: string; readonly type: string }[];

/** SQL of an entity as a number of type DOUBLE. It is NULL where the entity is missing, or is a text that no label has. */
export interface Keys {
  of(columns: KeyColumns): string;
  readonly enumeration?: Enumeration | undefined;
  /** Whether only this session can have the enumeration. */
  readonly isLocal: boolean;
}

/** Texts of an enumeration up to which each thread has its own. A text takes about 100 bytes. */
const maxSharedTexts = 1 << 20;

/**
 * Returns the expressions of entities' numbers: one whole number is itself. Otherwise the texts of all labels become an
 * enumeration of DuckDB, which has a number for each, and finds it in less time than JavaScript takes to read the text.
 *
 * @param columns of the table `labels`
 * @param name of the enumeration
 */
export async function createKeys(session: DuckDbSession, columns: KeyColumns, name: string): Promise<Keys> {
  if (columns.length === 1) {
    const [{ type: only }] = columns as readonly [KeyColumns[number]];
    if (only === "int") return { isLocal: false, of: ([one]) => `CAST(${quoteName(one!.column)} AS DOUBLE)` };
    if (only === "timestamp") {
      return { isLocal: false, of: ([one]) => `CAST(epoch_ms(${quoteName(one!.column)}) AS DOUBLE)` };
    }
  }
  const text = textOf(columns);
  const file = join(session.directory, `${name}.parquet`);
  await session.run(
    `COPY (SELECT DISTINCT ${text} AS text FROM labels WHERE ${text} IS NOT NULL) TO ${quoteText(file)} (FORMAT parquet)`,
  );
  await createEnumeration(session, { name, file });
  const [found] = await session.rows(`SELECT count(*)::DOUBLE AS "texts#" FROM ${quoteText(file)}`);
  return {
    enumeration: { name, file },
    isLocal: Number(found!["texts#"]) > maxSharedTexts,
    of: (some) => `CAST(enum_code(TRY_CAST(${textOf(some)} AS ${name})) AS DOUBLE)`,
  };
}

/**
 * Creates the enumeration, and removes that of an earlier join, which may still be in the session's files. The texts have
 * the same numbers in each session.
 */
export async function createEnumeration(session: DuckDbSession, { name, file }: Enumeration): Promise<void> {
  await session.run(`DROP TYPE IF EXISTS ${name}`);
  await session.run(`CREATE TYPE ${name} AS ENUM (SELECT text FROM ${quoteText(file)})`);
}

function textOf(columns: KeyColumns): string {
  const texts = columns.map(({ column }) => `CAST(${quoteName(column)} AS VARCHAR)`);
  if (texts.length === 1) return texts[0]!;
  const missing = columns.map(({ column }) => `${quoteName(column)} IS NULL`).join(" OR ");
  // A list as JSON keeps ("a", "b,c") apart from ("a,b", "c").
  return `CASE WHEN NOT (${missing}) THEN CAST(to_json([${texts.join(", ")}]) AS VARCHAR) END`;
}
