import * as fs from "node:fs";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { join } from "node:path";
import { inferSchema } from "../../../adapters/duckdb/infer-schema";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import { pushTarget } from "../../../cli/datasets/push";
import { provideSchemaFile } from "../../../cli/datasets/schema-file";
import { followVersion } from "../../../cli/datasets/schema-text";
import { parseDatasetSchema } from "../../../core/datasets/schema";
import type { ColumnSchema, DatasetManifest } from "../../../core/datasets/shapes";
import { temporaryFolder } from "../../support/temporary-folder";

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

describe("provideSchemaFile", () => {
  const directory = temporaryFolder("schema-file");
  const file = path.join(directory, "sales.csv");
  const schemaFile = path.join(directory, "sales.schema.yaml");
  const target = pushTarget([file]);
  fs.writeFileSync(file, "a,y\n1,0\nNA,1\n");

  it("writes the schema next to the file once, and never changes it", async () => {
    await expect(provideSchemaFile(target)).rejects.toThrow(/--label is required: there is no .*sales\.schema\.yaml/);
    expect(await provideSchemaFile({ ...target, label: "y" })).toMatchObject({
      schemaFile,
      created: true,
      remarks: [],
    });
    const edited = fs.readFileSync(schemaFile, "utf8").replace("type: int, nullable", "type: float, nullable");
    fs.writeFileSync(schemaFile, edited);
    expect(await provideSchemaFile({ ...target, label: "y", missing: ["NA"] })).toMatchObject({
      schemaFile,
      created: false,
      remarks: [],
    });
    expect(await provideSchemaFile(target)).toMatchObject({ schemaFile, created: false, text: edited });
    expect(fs.readFileSync(schemaFile, "utf8")).toBe(edited);
  });

  it.each([
    [{ label: "a" }, /--label is "a", but must be y, the label in .*; edit .*, or remove it/],
    [{ missing: ["?"] }, /--missing is "\?", but must be a missing token of/],
    [{ label: "a", schema: "absent.yaml" }, /must be a readable file/],
  ])("refuses options that contradict the file: %j", async (options, message) => {
    await expect(provideSchemaFile({ ...target, ...options })).rejects.toThrow(message);
  });
});

describe("a schema file for another version", () => {
  const directory = temporaryFolder("schema-file");
  const part = { sha256: "0".repeat(64), rows: 1, bytes: 4 };
  const earlier = {
    name: "sales",
    version: 3,
    schema: [
      { name: "y", type: "string", role: "label" },
      { name: "price", type: "float", role: "feature", nullable: true, minimum: 0, maximum: 9 },
      { name: "city", type: "string", role: "feature", values: ["a", "b"], from: { view: "v@1", feature: "city" } },
      { name: "shop", type: "int", role: "ignore" },
      { name: "code", type: "int", role: "feature" },
    ],
    split: {
      ...{ seed: 7, fractions: { train: 0.6, validation: 0.2, test: 0.2 }, by: "group", column: "shop" },
      indexes: { train: part, validation: part, test: part },
    },
  } as unknown as DatasetManifest;
  const inferred = async (name: string, text: string, label: string) => {
    const file = path.join(directory, `${name}.csv`);
    fs.writeFileSync(file, text);
    const target = pushTarget([file]);
    const { schemaFile } = await provideSchemaFile({ ...target, label, earlierVersion: async () => earlier });
    const written = fs.readFileSync(schemaFile, "utf8");
    return { written, ...parseDatasetSchema(written, schemaFile) };
  };

  it("has the version's types, roles, rules, order and split", async () => {
    const text = "shop,price,city,code,more,y\n1,2,a,x,1,u\n1,3,b,y,1,v\n2,4,b,y,2,v\n";
    const { written, columns, split } = await inferred("march", text, "y");
    expect(written).toMatch(/^# Suggested from .*march\.csv, with the types, roles, rules and split of sales@3: check/);
    expect(columns).toEqual([
      { name: "y", type: "string", role: "label" },
      { name: "price", type: "float", role: "feature", nullable: true, minimum: 0, maximum: 9 },
      { name: "city", type: "string", role: "feature", values: ["a", "b"] },
      { name: "shop", type: "int", role: "ignore" },
      // Values that do not fit the version's type keep their own, so that the push refuses them.
      { name: "code", type: "string", role: "feature" },
      { name: "more", type: "int", role: "feature" },
    ]);
    const { indexes: _, ...rule } = earlier.split;
    expect(split).toEqual(rule);
  });

  it("is not stratified if the version is not", async () => {
    const { indexes, seed, fractions } = earlier.split;
    const unstratified = { ...earlier, split: { indexes, seed, fractions } };
    const target = pushTarget([path.join(directory, "march.csv")]);
    const schema = path.join(directory, "unstratified.yaml");
    const choice = { ...target, schemaFile: schema, label: "y", earlierVersion: async () => unstratified };
    await provideSchemaFile(choice);
    expect(parseDatasetSchema(fs.readFileSync(schema, "utf8"), schema).split).toEqual({ seed, fractions });
  });

  it("follows no version with another label", async () => {
    const { written, columns, split } = await inferred("other", "shop,price,y\n1,2,u\n1,3,v\n2,4,v\n", "shop");
    expect(columns.map(({ type }) => type)).toEqual(["int", "int", "string"]);
    expect(split.seed).toBe(0);
    expect(written).not.toContain("sales@3");
  });
});

describe("pushTarget", () => {
  it.each([
    [["sales"], ["x.csv"], "sales", ["x.csv"], "x.schema.yaml"],
    [["sales", "b.csv", "data/a.csv"], [], "sales", ["b.csv", "data/a.csv"], "sales.schema.yaml"],
    [["data/Sales 2026.csv.gz"], [], "sales-2026", ["data/Sales 2026.csv.gz"], "data/Sales 2026.schema.yaml"],
    [["data/photos/"], [], "photos", ["data/photos/"], "data/photos.schema.yaml"],
    [["data/2026/*.parquet"], [], "2026", ["data/2026/*.parquet"], "data/2026/2026.schema.yaml"],
    [["sales"], ["data/*.csv"], "sales", ["data/*.csv"], "data/sales.schema.yaml"],
    [["./_.csv"], [], "", ["./_.csv"], "_.schema.yaml"],
  ])("reads %j with --file %j", (given, files, name, sources, schemaFile) => {
    expect(pushTarget(given, files)).toEqual({ name, sources, schemaFile });
  });

  it.each([
    [
      ["sales"],
      [],
      /must be a data file such as sales\.csv, a folder such as sales\/, or a dataset's name with --file/,
    ],
    [["a.csv"], ["b.csv"], /must be a dataset's name where --file names the file/],
    [["a.csv", "b.csv"], [], /must be a dataset's name where there are several files/],
  ])("refuses %j with --file %j", (given, files, message) => {
    expect(() => pushTarget(given, files)).toThrow(message);
  });
});
