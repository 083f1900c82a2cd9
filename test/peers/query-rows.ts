import { withDuckDb } from "../../adapters/duckdb/workspace";
import { type QueryOrigin, withQueryRows } from "../../cli/datasets/query";
import type { RingmasterError } from "../../core/errors";

interface Rows {
  readonly types: readonly (readonly [string, string])[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly origin: QueryOrigin;
}

/** Reads the rows of a query as a push does. */
export const read = (from: string, sql: string): Promise<Rows> =>
  withQueryRows(
    { from, sql },
    () => undefined,
    ([file], origin) =>
      withDuckDb(async (session) => {
        const types = await session.rows(`DESCRIBE SELECT * FROM read_parquet('${file}')`);
        const rows = await session.rows(`SELECT * FROM read_parquet('${file}')`);
        return { types: types.map((one) => [String(one["column_name"]), String(one["column_type"])]), rows, origin };
      }),
  );
/** Returns the status and the message with which a query is refused. */
export const refused = async (from: string, sql: string): Promise<string> => {
  const error = (await read(from, sql).then(
    () => undefined,
    (reason) => reason,
  )) as RingmasterError | undefined;
  // The exit code of such an error is 2.
  return `${error?.httpStatus} ${error?.message}`;
};
