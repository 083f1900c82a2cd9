import * as fs from "node:fs";
import { join } from "node:path";
import { originsOption, withOrigins } from "../../../adapters/duckdb/column-origins";
import { inferSchema } from "../../../adapters/duckdb/infer-schema";
import { type DuckDbSession, quoteText } from "../../../adapters/duckdb/session";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import type { DatasetSchema } from "../../../core/datasets/schema";
import { viewVersionOf } from "../../core/feature-store/versions";
import { temporaryFolder } from "../../support/temporary-folder";

const version = viewVersionOf({
  ...{ name: "spend", entities: ["customer"], eventTime: "at" },
  columns: { customer: "int", at: "timestamp", spend: "float" },
});
const from = { view: "spend@1", feature: "spend" };
const column = { name: "spend", type: "float", role: "feature" } as const;
const schema: DatasetSchema = {
  columns: [column, { name: "y", type: "int", role: "label" }],
  split: { seed: 0, fractions: { train: 0.8, validation: 0.1, test: 0.1 } },
};
const withFrom = (view: string): DatasetSchema => ({
  ...schema,
  columns: [{ ...column, from: { ...from, view } }, schema.columns[1]!],
});

describe("the origins of columns in Parquet", () => {
  const directory = temporaryFolder("origins");

  async function write(session: DuckDbSession, name: string, option: string): Promise<string> {
    const file = join(directory, name);
    await session.run(`COPY (SELECT 1.5 AS spend, 1 AS y) TO ${quoteText(file)} (FORMAT parquet${option})`);
    return file;
  }
  const joined = (session: DuckDbSession, fullNames = false, number = 1) =>
    write(
      session,
      `joined-${number}.parquet`,
      `, ${originsOption([{ ...version, version: number }], fullNames, "at")}`,
    );

  it("become those of the schema's columns, and stay where the schema has them", async () => {
    await withDuckDb(async (session) => {
      const file = await joined(session);
      expect(await withOrigins(session, file, schema, false)).toEqual(withFrom("spend@1"));
      expect(await withOrigins(session, [file, file], withFrom("spend@1"), false)).toEqual(withFrom("spend@1"));
      // An earlier version's schema is fixed.
      expect(await withOrigins(session, file, schema, true)).toEqual(schema);
    });
  });

  it("give an inferred schema the types of the features, whatever the values look like", async () => {
    await withDuckDb(async (session) => {
      const file = join(directory, "types.parquet");
      const features = { whole: "float", digits: "string", empty: "float", day: "string" } as const;
      const option = originsOption(
        [
          viewVersionOf({
            ...{ name: "spend", entities: ["customer"], eventTime: "at" },
            columns: { customer: "int", at: "timestamp", ...features },
          }),
        ],
        false,
        "when",
      );
      const keys = `i % 7 AS customer, TIMESTAMP '2024-01-01' + INTERVAL (i) HOUR AS "when"`;
      const values = "i::DOUBLE AS whole, (i % 3)::VARCHAR AS digits, NULL::DOUBLE AS empty, '31/01/2024' AS day";
      await session.run(
        `COPY (SELECT ${keys}, ${values}, i % 2 AS y FROM range(30) t(i)) TO ${quoteText(file)} (FORMAT parquet, ${option})`,
      );
      const { columns } = await inferSchema(session, file, "y");
      expect(columns.slice(0, 2)).toMatchObject([
        { name: "customer", type: "int", role: "ignore", note: expect.stringContaining("a key of views join") },
        { name: "when", type: "timestamp", role: "ignore" },
      ]);
      expect(columns.slice(2, -1).map(({ name, type, format }) => [name, type, format])).toEqual(
        Object.entries(features).map(([name, type]) => [name, type, undefined]),
      );
    });
  });

  it("are none in other files, and of other columns", async () => {
    await withDuckDb(async (session) => {
      const csv = join(directory, "rows.csv");
      fs.writeFileSync(csv, "spend,y\n1,1\n");
      for (const file of [csv, await write(session, "plain.parquet", ""), await joined(session, true)]) {
        expect(await withOrigins(session, file, schema, false)).toEqual(schema);
      }
    });
  });

  it.each([
    ["another version than the schema", withFrom("spend@2"), "", /must be spend of spend@2.*was joined with another/],
    ["another version than another file", schema, "2", /is "spend of spend@2", but must be spend of spend@1/],
    ["metadata of another form", schema, ", KV_METADATA {ringmaster_features: '[]'}", /must have the views of its/],
  ])("are refused for %s", async (_case, of, other, text) => {
    await withDuckDb(async (session) => {
      const files = [await joined(session)];
      if (other === "2") files.push(await joined(session, false, 2));
      else if (other !== "") files.push(await write(session, "wrong.parquet", other));
      await expect(withOrigins(session, files, of, false)).rejects.toThrow(text);
    });
  });
});
