import * as fs from "node:fs";
import * as path from "node:path";
import { createSnapshot } from "../../../adapters/duckdb/snapshot";
import type { DataFiles } from "../../../adapters/duckdb/source";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import { parseDatasetSchema } from "../../../core/datasets/schema";
import { temporaryFolder } from "../../support/temporary-folder";

const folder = temporaryFolder("several-files");
const schema = parseDatasetSchema("columns: [{name: a, type: int}, {name: y, type: int, role: label}]");
const line = (i: number): string => `${i},${i % 2}\n`;
const rows = (from: number, to: number): string => Array.from({ length: to - from }, (_, i) => line(from + i)).join("");

function write(name: string, content: string): string {
  const file = path.join(folder, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, content);
  return file;
}

const snapshotOf = (file: DataFiles) =>
  withDuckDb(async (session) => {
    const { draft, source } = await createSnapshot(session, { name: "toy", file, schema });
    return {
      digest: draft.digest,
      files: source.files.map((one) => path.basename(one)),
      rows: await source.countRows(),
    };
  });

it("give the version of one file with all their rows, in the order of their names, however they are named", async () => {
  const whole = await snapshotOf(write("whole.csv", `a,y\n${rows(0, 90)}`));
  write("data/_notes.csv", "no,data\n");
  write("data/data.schema.yaml", "");
  const last = write("data/sub/3[x].csv", "y,a\n0,88\n1,89\n");
  const files = [
    write("data/2.csv", `a;y\n${rows(40, 88).replaceAll(",", ";")}`),
    write("data/1.csv", `a,y\n${rows(0, 40)}`),
    last,
  ];
  const expected = { digest: whole.digest, files: ["1.csv", "2.csv", "3[x].csv"], rows: [40, 48, 2] };
  for (const source of [path.join(folder, "data"), files, path.join(folder, "data/**/[1-3]*.csv")]) {
    expect(await snapshotOf(source)).toEqual(expected);
  }
});

it("of JSON may lack keys, whose values are missing", async () => {
  const nullable = parseDatasetSchema(
    "columns: [{name: a, type: int, nullable: true}, {name: y, type: int, role: label}]",
  );
  const text = (from: number, key: string): string =>
    Array.from({ length: 20 }, (_, i) => `{"y": ${i % 2}${i % 3 === 0 ? "" : key}, "z": ${from}}\n`).join("");
  const file = [write("json/1.ndjson", text(0, "")), write("json/2.ndjson", text(20, ', "a": 1'))];
  await withDuckDb(async (session) => {
    const { draft, ignoredColumns } = await createSnapshot(session, { name: "toy", file, schema: nullable });
    expect([draft.rowCount, ignoredColumns]).toEqual([40, ["z"]]);
  });
});
