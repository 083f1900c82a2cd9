import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inferSchema } from "../../../adapters/duckdb/infer-schema";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import { followVersion } from "../../../cli/datasets/schema-text";
import type { ColumnSchema, DatasetManifest } from "../../../core/datasets/shapes";

const split = { fractions: { train: 0.8, validation: 0.1, test: 0.1 }, seed: 0, indexes: {} };

async function followed(schema: readonly ColumnSchema[], lines: readonly string[]) {
  const earlier = { name: "shop", version: 3, schema, split } as unknown as DatasetManifest;
  const folder = mkdtempSync(join(tmpdir(), "earlier-"));
  const file = join(folder, "later.csv");
  writeFileSync(file, `${lines.join("\n")}\n`);
  const { columns } = followVersion(await withDuckDb((session) => inferSchema(session, file, "y")), earlier);
  rmSync(folder, { recursive: true });
  return columns;
}

it("keeps the type of an earlier version's column that has no value in a later file", async () => {
  const schema: readonly ColumnSchema[] = [
    { name: "price", type: "float", role: "feature" },
    { name: "sold", type: "timestamp", role: "slice" },
    { name: "y", type: "int", role: "label" },
  ];
  expect(await followed(schema, ["price,sold,y", ",,0", ",,1"])).toMatchObject([
    { name: "price", type: "float", role: "feature", nullable: true },
    { name: "sold", type: "timestamp", role: "slice", nullable: true },
    { name: "y", type: "int", role: "label" },
  ]);
});

it("keeps a column of texts, such as postal codes, although a later file has none with a zero in front", async () => {
  const schema: readonly ColumnSchema[] = [
    { name: "zip", type: "string", role: "feature" },
    { name: "since", type: "string", role: "feature" },
    { name: "y", type: "int", role: "label" },
  ];
  expect(await followed(schema, ["zip,since,y", "12345,31/12/2024,0", "54321,30/12/2024,1"])).toEqual(schema);
});

it("keeps the missing tokens of each column, and adds those of the file", async () => {
  const schema: readonly ColumnSchema[] = [
    { name: "age", type: "int", role: "feature", nullable: true, missing: ["NA"] },
    { name: "country", type: "string", role: "feature" },
    { name: "y", type: "int", role: "label" },
  ];
  const columns = await followed(schema, ["age,country,y", "?,NA,0", "31,DE,1", "32,NA,1"]);
  expect(columns).toEqual(
    [{ ...schema[0], missing: ["NA", "?"] }, ...schema.slice(1)].map((one) => expect.objectContaining(one)),
  );
  expect(columns[1]).not.toHaveProperty("missing");
});

it("makes a column nullable only where a later file lacks values, also if it looks like row numbers or texts of ids", async () => {
  const schema: readonly ColumnSchema[] = [
    { name: "f", type: "float", role: "feature" },
    { name: "text", type: "string", role: "feature" },
    { name: "gaps", type: "string", role: "feature" },
    { name: "y", type: "int", role: "label" },
  ];
  const rows = Array.from({ length: 60 }, (_row, i) => `${i + 1},text ${i},${i === 0 ? "" : `gap ${i}`},${i % 2}`);
  const columns = await followed(schema, ["f,text,gaps,y", ...rows]);
  expect(columns).toEqual(schema.map((one) => (one.name === "gaps" ? { ...one, nullable: true } : one)));
});
