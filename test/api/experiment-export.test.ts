import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { createApp } from "../../api/app";
import { callApp, useTestApp } from "../support/app";
import { cliOverApp } from "../support/cli-over-app";
import { temporaryFolder } from "../support/temporary-folder";

const at = 1_767_225_600_000;

describe("the export of an experiment", () => {
  const { platform, app } = useTestApp({ checkResponses: true }, { now: () => at });
  let cli: Awaited<ReturnType<typeof cliOverApp>>;
  const directory = temporaryFolder("export");
  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await callApp(app, method, path, body);
    expect(answer.status).toBeLessThan(300);
    return answer.body as T;
  };
  let experimentId: string;
  const runs: string[] = [];

  beforeAll(async () => {
    cli = await cliOverApp(app);
    ({ experimentId } = (
      await call<{ experiment: { experimentId: string } }>("POST", "/experiments", { name: "e" })
    ).experiment);
    for (const number of [0, 1, 2]) {
      const made = await call<{ run: { runId: string } }>("POST", "/runs", {
        experiment: "e",
        name: `run ${number}`,
        startedAt: at + number,
        params: { "learning,rate": "1e-3", note: number === 0 ? 'a "quoted"\nline' : "" },
        tags: { team: `t${number}` },
      });
      runs.push(made.run.runId);
    }
    const values = [0.5, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0];
    const series = { metric: "loss", steps: [0, 1, 2, 3, 4], values, times: values.map((_, i) => at + i) };
    await platform.metrics.append(runs[0]!, [series]);
    // A log that does not fit into its head, in several batches.
    for (let part = 0; part < 3; part += 1) {
      const steps = Array.from({ length: 1_000 }, (_, i) => part * 1_000 + i);
      await platform.metrics.append(runs[1]!, [
        { metric: "acc", steps, values: steps.map((step) => step / 2), times: steps.map((step) => at + step) },
        { metric: "loss", steps, values: steps.map((step) => -1 - step), times: steps.map((step) => at + step) },
      ]);
    }
    await call("DELETE", `/runs/${runs[2]}`).catch(() => undefined);
  });
  afterAll(() => cli.stop());

  const duckdb = async (sql: string): Promise<readonly Record<string, unknown>[]> => {
    const connection = await (await DuckDBInstance.create()).connect();
    return (await connection.runAndReadAll(sql)).getRowObjectsJson();
  };

  it.each(["parquet", "csv"])(
    "as %s has every run, param and point, with values that are not finite",
    async (format) => {
      const out = join(directory, format);
      const { code, err } = await cli.run("experiments", "export", "e", "--format", format, "--out", out);
      expect([code, err]).toEqual([0, ""]);
      const files = ["metrics", "params", "points", "runs", "tags"].map((table) => `${table}.${format}`);
      expect(readdirSync(out).sort()).toEqual(files);
      const from = (table: string) => `'${join(out, `${table}.${format}`)}'`;
      const listed = await duckdb(`SELECT name FROM ${from("runs")} ORDER BY name`);
      expect(listed.map(({ name }) => name)).toEqual(expect.arrayContaining(["run 0", "run 1"]));
      expect(await duckdb(`SELECT key, value FROM ${from("params")} WHERE run_id = '${runs[0]}' ORDER BY key`)).toEqual(
        [
          { key: "learning,rate", value: "1e-3" },
          { key: "note", value: 'a "quoted"\nline' },
        ],
      );
      const points = await duckdb(
        `SELECT step, epoch_ms(time) AS time, CAST(value AS VARCHAR) AS value FROM ${from("points")} WHERE run_id = '${runs[0]}' ORDER BY step`,
      );
      expect(points.map(({ value }) => value)).toEqual(["0.5", "nan", "inf", "-inf", "-0.0"]);
      expect(points.map(({ step }) => Number(step))).toEqual([0, 1, 2, 3, 4]);
      expect(points.map(({ time }) => Number(time))).toEqual([0, 1, 2, 3, 4].map((i) => at + i));
      const [sums] = await duckdb(
        `SELECT count(*) AS n, sum(value) AS total, count(DISTINCT step) AS steps FROM ${from("points")} WHERE run_id = '${runs[1]}' AND key = 'acc'`,
      );
      expect([Number(sums!["n"]), Number(sums!["total"]), Number(sums!["steps"])]).toEqual([3_000, 2_249_250, 3_000]);
      const [summary] = await duckdb(
        `SELECT last, last_step, min, max FROM ${from("metrics")} WHERE run_id = '${runs[1]}' AND key = 'loss'`,
      );
      expect(Object.values(summary!).map(Number)).toEqual([-3_000, 2_999, -3_000, -1]);
    },
  );

  it("has tables without rows for an experiment without runs", async () => {
    await call("POST", "/experiments", { name: "empty" });
    const out = join(directory, "empty");
    expect((await cli.run("experiments", "export", "empty", "--out", out)).code).toBe(0);
    expect(await duckdb(`SELECT count(*)::INT AS n FROM '${join(out, "points.parquet")}'`)).toEqual([{ n: 0 }]);
  });

  it("refuses an unknown experiment, table and format", async () => {
    expect(await cli.run("experiments", "export", "nothing", "--out", directory)).toMatchObject({ code: 2 });
    expect(await cli.run("experiments", "export", "e", "--out", directory, "--format", "xml")).toMatchObject({
      code: 2,
    });
    for (const query of ["table=all", "table=runs&format=xml", ""]) {
      expect((await app.request(`/api/v1/experiments/${experimentId}/export?${query}`)).status).toBe(400);
    }
    expect((await app.request("/api/v1/experiments/404/export?table=runs")).status).toBe(404);
  });

  it("leaves no file that looks complete if it is interrupted", async () => {
    const { metrics } = platform;
    const broken = {
      ...platform,
      metrics: { ...metrics, readMany: () => Promise.reject(new Error("the store is gone")) },
    };
    const failing = await cliOverApp(createApp({ ...broken, forTeam: () => broken } as never));
    const out = join(directory, "broken");
    const { code } = await failing.run("experiments", "export", "e", "--out", out);
    await failing.stop();
    expect(code).toBe(1);
    expect(readdirSync(out).sort()).toEqual(["metrics.parquet", "params.parquet", "runs.parquet", "tags.parquet"]);
  });
});
