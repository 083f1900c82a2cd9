import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { openDuckDb } from "../../../adapters/duckdb/session";
import { toSql } from "../../../api/export/to-sql";
import type { ModelArtifact } from "../../../core/evaluation/model-artifact";
import type { ExportedFile, ExportSource } from "../../../core/export";
import { planColumns } from "../../../core/features/planned-fit";
import { plannedTransform } from "../../../core/features/planned-rows";
import type { LabelEncoding } from "../../../core/features/shapes";
import { agree, applyRows, fitRows, named, planOf, writeTable } from "../../core/feature-plans/engines";
import { columns, fitted, labels, mixedRows, planned } from "../../support/exportable";

const more = [
  { kind: "hash", column: "island", buckets: 5 },
  { kind: "ngrams", column: "island", n: 2, buckets: 3 },
];
const rows = mixedRows.map((row) => ({
  ...row,
  seen: row["seen"] === null ? null : Date.parse(row["seen"] as string),
}));

async function exported(features: Pick<ModelArtifact, "transform" | "label">): Promise<readonly ExportedFile[]> {
  const artifact = { ...features, model: "m", runId: "run-1", inputSchema: columns } as unknown as ModelArtifact;
  const check = { rows: [], dense: new Float32Array(), predicted: new Float32Array() };
  return toSql({ artifact, check } as unknown as ExportSource);
}

describe("a plan as SQL", () => {
  it("makes the features of the function of a row in DuckDB, each row with its id", async () => {
    const features = await planned("binary", more);
    const files = await exported(features);
    expect(files.map((file) => file.path)).toEqual([
      "features.duckdb.sql",
      "features.trino.sql",
      "transform.json",
      "examples.json",
    ]);
    const [{ body }] = files as [ExportedFile];
    const query = String(body).replace("your_id", "number").replace("your_table", "m");
    expect(query).not.toContain("your_");

    const directory = fs.mkdtempSync(path.join(os.tmpdir(), "sql-"));
    const session = await openDuckDb(directory);
    try {
      const { plan } = features.transform;
      await writeTable(session, "m", planColumns(columns), rows);
      const found = await session.rows(`SELECT * FROM (${query.replace(/^--.*\n/gm, "")}) ORDER BY row_id`);
      const expected = applyRows(plan!, rows).map((row, number) => ({ row_id: number, ...row }));
      expect(Object.keys(found[0]!)).toEqual(Object.keys(expected[0]!));
      for (const [i, row] of expected.entries())
        for (const [name, value] of Object.entries(row))
          expect({ [name]: agree(value, found[i]![name]) }).toEqual({ [name]: true });
    } finally {
      session.close();
      fs.rmSync(directory, { recursive: true });
    }
  });

  it("reads the columns of its features alone, each named, and another name for the row's where a column has it", async () => {
    const plan = await fitRows(
      planOf([
        { kind: "target", column: "row_id", target: "y", foldBy: "y", name: "mean" },
        { kind: "number", column: "x y" },
      ]),
      [...named("string", "row_id"), ...named("float", "y", "x y")],
      [{ row_id: "a", y: 1, "x y": 2 }],
    );
    const [{ body }] = (await exported({
      transform: plannedTransform(plan),
      label: { kind: "value", column: "y", mean: 0, deviation: 1 } as LabelEncoding,
    })) as [ExportedFile];
    expect(String(body)).toContain(
      '--   "row_id" string\n--   "x y" float\nWITH source AS (SELECT your_id AS row_id_, * FROM your_table)\nSELECT "kept:row_id_" AS "row_id_",',
    );
    expect(String(body)).not.toContain('"y"');
  });

  it("is refused for a model without a plan", async () => {
    const features = await fitted([...columns, labels.binary], mixedRows);
    await expect(exported(features)).rejects.toMatchObject({
      code: "EXPORT_UNSUPPORTED",
      httpStatus: 409,
      message: expect.stringContaining("train it with features.plan"),
    });
  });
});
