import { execFileSync, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { createSnapshot } from "../../../adapters/duckdb/snapshot";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import { parseDatasetSchema } from "../../../core/datasets/schema";

const cli = path.resolve(__dirname, "../../../bin/ringmaster.js");

describe("ringmaster datasets schema", () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "schema-test-"));
  afterAll(() => fs.rmSync(directory, { recursive: true }));
  const write = (name: string, content: string): string => {
    fs.writeFileSync(path.join(directory, name), content);
    return path.join(directory, name);
  };
  const suggest = (file: string, label: string): string =>
    execFileSync(process.execPath, [cli, "datasets", "schema", file, "--label", label], { encoding: "utf8" });
  /** Columns of the YAML, and whether a push takes every row with them. */
  async function accepted(file: string, text: string) {
    const schema = parseDatasetSchema(text);
    const { draft } = await withDuckDb((session) => createSnapshot(session, { name: "toy", file, schema }));
    return { columns: schema.columns, rows: draft.rowCount };
  }

  /** 40 rows: a column for each rule. */
  const records = Array.from({ length: 40 }, (_, i) => ({
    id: `customer-${i}`,
    "unit price (€)": i % 3 === 0 ? null : i / 4,
    visits: i % 5,
    on: i % 2 === 0,
    flag: i % 2,
    since: `2024-05-${String(1 + (i % 28)).padStart(2, "0")}T10:00:00Z`,
    code: ["007", "x8"][i % 2],
    nothing: null,
    total: 100 + i,
    class: i % 4,
  }));
  type Key = keyof (typeof records)[number];
  const keys = Object.keys(records[0]!) as Key[];
  const csv = [keys.join(","), ...records.map((row) => keys.map((key) => row[key] ?? "").join(","))].join("\n");
  const columns = [
    { name: "id", type: "string", role: "ignore", nullable: true },
    { name: "unit price (€)", type: "float", role: "feature", nullable: true },
    { name: "visits", type: "int", role: "feature" },
    { name: "on", type: "bool", role: "feature" },
    { name: "flag", type: "int", role: "feature" },
    { name: "since", type: "timestamp", role: "feature" },
    { name: "code", type: "string", role: "feature" },
    { name: "nothing", type: "string", role: "ignore", nullable: true },
    { name: "total", type: "int", role: "feature" },
    { name: "class", type: "int", role: "label" },
  ];

  it.each([
    ["CSV", "rows.csv", csv],
    ["JSON lines", "rows.jsonl", records.map((row) => JSON.stringify(row)).join("\n")],
  ])("suggests for %s what a push accepts", async (_format, name, content) => {
    const file = write(name, content);
    expect(await accepted(file, suggest(file, "class"))).toEqual({ columns, rows: 40 });
  });

  it("predicts a whole number of many values as a number, and says so", () => {
    const file = write("rows.csv", csv);
    expect(suggest(file, "total")).toMatch(
      /name: total, type: float, role: label \} +# 40 values: predicted as a number/,
    );
  });

  it("takes lists of one length for tensors", async () => {
    const rows = Array.from({ length: 40 }, (_, i) =>
      JSON.stringify({
        v: [
          [i, 1],
          [2, 3],
        ],
        y: i % 2,
      }),
    );
    const file = write("tensors.jsonl", rows.join("\n"));
    const [tensor] = (await accepted(file, suggest(file, "y"))).columns;
    expect(tensor).toEqual({ name: "v", type: "tensor", shape: [4], role: "feature" });
  });

  it.each([
    ["a label that is no column", "rows.csv", "price", /--label is "price", but must be a column/],
    ["a file that does not exist", "absent.csv", "x", /must exist/],
  ])("refuses %s", (_case, name, label, reason) => {
    write("rows.csv", csv);
    const args = [cli, "datasets", "schema", path.join(directory, name), "--label", label];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(reason);
  });
});
