import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { pushTarget } from "../../../cli/datasets/push";
import { provideSchemaFile } from "../../../cli/datasets/schema-file";

describe("provideSchemaFile", () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "schema-file-"));
  afterAll(() => fs.rmSync(directory, { recursive: true }));
  const file = path.join(directory, "sales.csv");
  const schemaFile = path.join(directory, "sales.schema.yaml");
  const target = pushTarget([file]);
  fs.writeFileSync(file, "a,y\n1,0\nNA,1\n");

  it("writes the schema next to the file once, and never changes it", async () => {
    await expect(provideSchemaFile(target)).rejects.toThrow(/--label is required: there is no .*sales\.schema\.yaml/);
    expect(await provideSchemaFile({ ...target, label: "y" })).toEqual({ schemaFile, created: true });
    const edited = fs.readFileSync(schemaFile, "utf8").replace("type: int, nullable", "type: float, nullable");
    fs.writeFileSync(schemaFile, edited);
    expect(await provideSchemaFile({ ...target, label: "y", missing: ["NA"] })).toEqual({ schemaFile, created: false });
    expect(await provideSchemaFile(target)).toEqual({ schemaFile, created: false });
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
