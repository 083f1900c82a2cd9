import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { predictFile } from "../../cli/commands/predictions";
import { assertFinite, openPredictor, type Prediction } from "../../cli/predict";
import type { ApiClient } from "../../client/api-client";
import { artifactManifest, type ModelArtifact } from "../../core/evaluation/model-artifact";
import type { RawRow } from "../../core/features/transform";
import { getJson } from "../../core/object-documents";
import { createTestPlatform, useEmbedded } from "../support/embedded";
import { columns, fitted, labels, mixedRows, registered } from "../support/exportable";
import { temporaryFolder } from "../support/temporary-folder";

describe("assertFinite", () => {
  it("names the rows whose outputs are not finite", () => {
    expect(() => assertFinite(Float32Array.of(0.5, 0.5, 1, 0), 2)).not.toThrow();
    expect(() => assertFinite(Float32Array.of(0.5, 0.5, Number.NaN, 1, Infinity, 0), 3)).toThrow(
      /the rows cannot be predicted.*rows\[1\] .*no finite prediction.*rows\[2\] /s,
    );
  });
});

/** CSV does not distinguish an empty text from a missing one. */
const given = mixedRows.map((row) => (row["island"] === "" ? { ...row, island: "Dream" } : row));

describe("predictions of a file", () => {
  const directory = temporaryFolder("predict");
  const path = (name: string): string => join(directory, name);
  const embedded = useEmbedded();
  let client: ApiClient;
  let artifact: ModelArtifact;
  let expected: readonly Prediction[];
  beforeAll(async () => {
    const { objects } = createTestPlatform(embedded).platform;
    const features = await fitted([...columns, labels.classification], mixedRows);
    const { artifactKey } = await registered(objects, columns, features, { hidden: [7] });
    artifact = await getJson(objects, artifactKey!, artifactManifest);
    const contentUrl = async (sha256: string): Promise<string> =>
      `data:application/octet-stream;base64,${Buffer.from(await objects.getContent(sha256)).toString("base64")}`;
    client = { contentUrl } as unknown as ApiClient;
    const model = await openPredictor(client, artifact);
    expected = model.predict(given);
    model.dispose();
  });

  const duckdb = async (sql: string): Promise<readonly Record<string, unknown>[]> => {
    const connection = await (await DuckDBInstance.create()).connect();
    return (await connection.runAndReadAll(sql)).getRowObjectsJson();
  };
  const cell = (value: unknown): string =>
    value === null ? "" : `"${(Array.isArray(value) ? JSON.stringify(value) : String(value)).replaceAll('"', '""')}"`;
  const csvOf = (rows: readonly RawRow[]): string => {
    const names = columns.map(({ name }) => name);
    return [names.map(cell), ...rows.map((row) => names.map((name) => cell(row[name])))]
      .map((line) => line.join(","))
      .join("\n");
  };
  async function written(out: string) {
    const rows = await duckdb(`SELECT * FROM '${path(out)}'`);
    return rows.map((row) => [
      Number(row["row"]),
      row["label"],
      ...["a", "b", "c"].map((c) => Number(row[`probability_${c}`])),
    ]);
  }
  const byHand = (predictions: readonly Prediction[]) =>
    predictions.map((one, i) => {
      if ("value" in one) throw new Error("the model has classes");
      return [i + 1, one.label, ...one.probabilities.map(({ probability }) => expect.closeTo(probability, 6))];
    });

  it.each(["rows.csv", "rows.jsonl", "rows.parquet"])("are those of its rows, in order: %s", async (name) => {
    const known = given.map((row) => Object.fromEntries(columns.map((column) => [column.name, row[column.name]])));
    writeFileSync(path("rows.csv"), csvOf(given));
    writeFileSync(path("rows.jsonl"), known.map((row) => JSON.stringify(row)).join("\n"));
    await duckdb(`COPY (SELECT * FROM read_json('${path("rows.jsonl")}')) TO '${path("rows.parquet")}'`);
    for (const out of ["out.csv", "out.parquet"]) {
      expect(await predictFile(client, artifact, path(name), path(out), () => undefined)).toBe(given.length);
      expect(await written(out)).toEqual(byHand(expected));
      expect(existsSync(path(`${out}.partial`))).toBe(false);
    }
  });

  it("have the class that the model decides for", async () => {
    const schema = [{ name: "x", type: "float", role: "feature" }] as const;
    const { objects } = createTestPlatform(embedded).platform;
    const rows = Array.from({ length: 8 }, (_, i) => ({ x: i - 3, late: i % 2 === 0 }));
    const features = await fitted([...schema, labels.binary], rows);
    const { artifactKey } = await registered(objects, schema, features, { hidden: [] });
    const binary = await getJson(objects, artifactKey!, artifactManifest);
    for (const [positive, threshold] of [
      [true, 0.3],
      [false, 0.3],
      [true, 0.7],
    ] as const) {
      const model = await openPredictor(client, { ...binary, decision: { positive, threshold } });
      for (const found of model.predict(rows)) {
        if ("value" in found) throw new Error("the model has classes");
        const { probability } = found.probabilities.find(({ label }) => label === positive)!;
        expect(found.label).toBe(probability > threshold ? positive : !positive);
      }
      model.dispose();
    }
  });

  it("are written in batches, with the rows' numbers", async () => {
    const many = Array.from({ length: 3_000 }, () => given).flat();
    writeFileSync(path("many.csv"), csvOf(many));
    const progress: number[] = [];
    await predictFile(client, artifact, path("many.csv"), path("many.parquet"), (rows) => progress.push(rows));
    const rows = await written("many.parquet");
    expect(progress.length).toBeGreaterThan(3);
    expect(rows.map(([row]) => row)).toEqual(many.map((_, i) => i + 1));
    for (const at of [0, 2_047, 2_048, 50_000, 71_999]) {
      const { label } = expected[at % given.length] as { label: string };
      expect(rows[at]![1]).toBe(label);
    }
  });

  it("names the row and column of a wrong or missing value, and leaves no file", async () => {
    const rows = Array.from({ length: 100 }, () => given).flat();
    const wrong = rows.map((row, i) =>
      i === 2_222 ? { ...row, wheels: "four" } : i === 2_223 ? { ...row, probabilities: null } : row,
    );
    writeFileSync(path("wrong.csv"), csvOf(wrong));
    const refused = predictFile(client, artifact, path("wrong.csv"), path("refused.csv"), () => undefined);
    await expect(refused).rejects.toMatchObject({
      details: {
        problems: [{ path: "row 2223.wheels", value: "four" }, { path: "row 2224.probabilities" }],
      },
    });
    expect([existsSync(path("refused.csv")), existsSync(path("refused.csv.partial"))]).toEqual([false, false]);
  });

  it("refuses a file without a column of the model, and an output of another format", async () => {
    writeFileSync(path("less.csv"), "wheels\n2\n");
    const predict = (file: string, out: string) =>
      predictFile(client, artifact, path(file), path(out), () => undefined);
    await expect(predict("less.csv", "out.csv")).rejects.toThrow(/columns\.island.*must be in the file/);
    await expect(predict("rows.csv", "out.xlsx")).rejects.toThrow(/--out.*must end in one of \.csv, \.parquet/);
    expect(readFileSync(path("less.csv"), "utf8")).toBe("wheels\n2\n");
  });
});
