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
  fs.writeFileSync(file, "a,y\n1,0\nNA,1\n");

  it("writes the schema next to the file once, and never changes it", async () => {
    await expect(provideSchemaFile({ file })).rejects.toThrow(/--label is required: there is no .*sales\.schema\.yaml/);
    expect(await provideSchemaFile({ file, label: "y" })).toEqual({ schemaFile, created: true });
    const edited = fs.readFileSync(schemaFile, "utf8").replace("type: int, nullable", "type: float, nullable");
    fs.writeFileSync(schemaFile, edited);
    expect(await provideSchemaFile({ file, label: "y", missing: ["NA"] })).toEqual({ schemaFile, created: false });
    expect(await provideSchemaFile({ file })).toEqual({ schemaFile, created: false });
    expect(fs.readFileSync(schemaFile, "utf8")).toBe(edited);
  });

  it.each([
    [{ label: "a" }, /--label is "a", but must be y, the label in .*; edit .*, or remove it/],
    [{ missing: ["?"] }, /--missing is "\?", but must be a missing token of/],
    [{ label: "a", schema: "absent.yaml" }, /must be a readable file/],
  ])("refuses options that contradict the file: %j", async (options, message) => {
    await expect(provideSchemaFile({ file, ...options })).rejects.toThrow(message);
  });
});

describe("pushTarget", () => {
  it.each([
    ["sales", "x.csv", { name: "sales", file: "x.csv" }],
    ["data/Sales 2026.csv.gz", undefined, { name: "sales-2026", file: "data/Sales 2026.csv.gz" }],
    ["./_.csv", undefined, { name: "", file: "./_.csv" }],
  ])("reads %j with --file %j", (argument, file, target) => expect(pushTarget(argument, file)).toEqual(target));

  it.each([
    ["sales", undefined, /must be a data file such as sales\.csv, or a dataset's name with --file FILE/],
    ["a.csv", "b.csv", /must be a dataset's name where --file names the file/],
  ])("refuses %j with --file %j", (argument, file, message) => {
    expect(() => pushTarget(argument, file)).toThrow(message);
  });
});
