import { createApp } from "../../api/app";
import { callApp } from "../support/app";
import { createTestPlatform, useEmbedded } from "../support/embedded";
import { jobInput, registerTestDataset, runOf } from "../support/fixtures";

const embedded = useEmbedded();
/** Two processes over the same stores. */
let apps: readonly ReturnType<typeof createApp>[];
let platform: ReturnType<typeof createTestPlatform>["platform"];
beforeAll(() => {
  platform = createTestPlatform(embedded).platform;
  apps = [createApp(platform), createApp(createTestPlatform(embedded).platform)];
});

const call = (method: string, path: string, body: unknown, process = 0) =>
  callApp(apps[process]!, method, path, body, { "x-ringmaster-actor": "ada" });
const log = async (run: object, process = 0): Promise<string> =>
  (await call("POST", "/runs", { experiment: "searched", ...run }, process)).body.run.runId;
async function search(
  body: object,
  process = 0,
): Promise<{ readonly ids: readonly string[]; readonly nextToken?: string }> {
  const answer = await call("POST", "/runs/search", { experiments: ["searched"], ...body }, process);
  expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
  const ids = answer.body.runs.map(({ run }: { run: { runId: string } }) => run.runId);
  return { ids, nextToken: answer.body.nextToken };
}

describe("POST /runs/search", () => {
  it("finds runs that were logged and trained, at once and through either process", async () => {
    const low = await log({ params: { learning_rate: "0.0005" }, metrics: { val_loss: 0.2 } });
    const high = await log({ params: { learning_rate: "0.5" }, metrics: { val_loss: 0.1 } });
    await registerTestDataset(platform);
    const job = jobInput({ experiment: "searched" });
    await platform.runs.create(runOf("trained", { job: { ...runOf("x").job, experiment: job.experiment } }));
    await platform.metrics.append("trained", [
      { metric: "validation/loss", steps: [1, 2], values: [0.9, 0.15], times: [1, 2] },
    ]);
    const rate = platform.records.find("trained").then((record) => record?.params["hyperparameters.learningRate"]);
    const between = "params.learning_rate BETWEEN 1e-4 AND 1e-3";
    for (const process of [0, 1]) {
      const { ids } = await search(
        { filter: `${between} OR params.learningRate = ${await rate}`, orderBy: ["metrics.val_loss"] },
        process,
      );
      expect(ids).toEqual(["trained", low]);
      expect((await search({ filter: "dataset.name = 'digits'" }, process)).ids).toEqual(["trained"]);
      expect((await search({ filter: "metrics.val_loss < 0.15" }, process)).ids).toEqual([high]);
    }
  });

  it("returns the total number of runs", async () => {
    for (let i = 0; i < 3; i++) await log({ name: "counted" });
    const body = { experiments: ["searched"], filter: "name = 'counted'", limit: 2 };
    const first = (await call("POST", "/runs/search", body)).body;
    expect([first.runs.length, first.total]).toEqual([2, 3]);
    const rest = (await call("POST", "/runs/search", { ...body, pageToken: first.nextToken })).body;
    expect([rest.runs.length, rest.total]).toEqual([1, 3]);
  });

  it("sees what was acknowledged before, whichever process wrote it", async () => {
    const runId = await log({ name: "changes" }, 1);
    for (const [step, process] of [1, 0, 1, 0].entries()) {
      const changes = { tags: { step: String(step) } };
      expect((await call("PATCH", `/runs/${runId}`, changes, process)).status).toBe(200);
      const series = [{ metric: "loss", steps: [step], values: [step], times: [step] }];
      expect((await call("POST", `/runs/${runId}/metrics`, { series }, process)).status).toBe(200);
      const filter = `tags.step = ${step} AND metrics.loss = ${step}`;
      for (const reader of [0, 1]) expect((await search({ filter }, reader)).ids).toEqual([runId]);
    }
    await call("DELETE", `/runs/${runId}`, {});
    expect((await search({ filter: "name = 'changes'" }, 1)).ids).toEqual([]);
    expect((await search({ filter: "name = 'changes'", view: "deleted" }, 1)).ids).toEqual([runId]);
  });

  it("pages through what was there while others write", async () => {
    const steady = await Promise.all(
      Array.from({ length: 25 }, (_, i) => log({ name: "steady", metrics: { place: i % 5 } }, i % 2)),
    );
    const seen: string[] = [];
    let pageToken: string | undefined;
    let round = 0;
    do {
      const writing = Promise.all(
        [0, 1].map((process) => log({ name: "steady", metrics: { place: round % 7 } }, process)),
      );
      const page = await search(
        { filter: "name = 'steady'", orderBy: ["metrics.place DESC"], limit: 4, pageToken },
        round % 2,
      );
      seen.push(...page.ids);
      pageToken = page.nextToken;
      await writing;
      round += 1;
    } while (pageToken !== undefined && round < 50);
    expect(new Set(seen).size).toBe(seen.length);
    expect(steady.filter((runId) => !seen.includes(runId))).toEqual([]);
  });

  it("answers what a record says, but for what is long", async () => {
    const { body } = await call("POST", "/runs/search", { filter: "run_id = 'trained'" });
    const [{ run, metrics }] = body.runs;
    expect(run).toMatchObject({ runId: "trained", source: "training", datasets: [{ name: "digits" }] });
    expect(run).not.toHaveProperty("job");
    expect(metrics).toEqual([{ metric: "validation/loss", last: 0.15, lastStep: 2, lastTime: 2, min: 0.15, max: 0.9 }]);
  });

  it("answers a page that fits where a longer one would not", async () => {
    const params = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`long-${i}`, "x".repeat(6_000)]));
    const long = await Promise.all(Array.from({ length: 24 }, () => log({ name: "long", params })));
    const first = await search({ filter: "name = 'long'", limit: 1_000 });
    expect(first.ids.length).toBeLessThan(24);
    const rest = await search({ filter: "name = 'long'", limit: 1_000, pageToken: first.nextToken });
    expect([...first.ids, ...rest.ids].length).toBeGreaterThan(first.ids.length);
    expect(long).toEqual(expect.arrayContaining([...first.ids, ...rest.ids]));
  });

  it.each([
    [{ filter: "metrics.loss >" }, 400, "INVALID_INPUT", "filter at character 15"],
    [{ orderBy: ["nonsense"] }, 400, "INVALID_INPUT", "orderBy at character 1"],
    [{ pageToken: "nonsense" }, 400, "INVALID_INPUT", "pageToken"],
    [{ limit: 0 }, 400, "INVALID_INPUT", "limit is 0"],
    [{ experiments: ["nowhere"] }, 404, "EXPERIMENT_NOT_FOUND", "nowhere"],
  ])("%j is refused", async (body, status, code, message) => {
    const answer = await call("POST", "/runs/search", body);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
    expect(answer.body.error.message).toContain(message);
  });
});

describe("POST /runs/compare", () => {
  const compare = async (body: object) => {
    const request = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await apps[0]!.request("/api/v1/runs/compare", request);
    return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
  };

  it("takes the best of a search, with their curves, in each format", async () => {
    const ids: string[] = [];
    for (const last of [0.5, 0.25, 0.75]) {
      const runId = await log({ experiment: "compared", params: { rate: String(last) } });
      const series = [{ metric: "val_loss", steps: [1, 2, 3], values: [2, 1, last], times: [1, 2, 3] }];
      await call("POST", `/runs/${runId}/metrics`, { series });
      ids.push(runId);
    }
    const top = { metric: "val_loss", count: 2, experiments: ["compared"] };
    const answer = JSON.parse((await compare({ top, baseline: ids[2] })).text);
    expect(answer.runs.map(({ runId }: { runId: string }) => runId)).toEqual([ids[2], ids[1], ids[0]]);
    expect(answer.metrics[0]).toMatchObject({ metric: "val_loss", goal: "min", best: [ids[1]] });
    expect(answer.metrics[0].values[1]).toMatchObject({ last: 0.25, min: 0.25, max: 2, delta: -0.5 });
    expect(answer.curves[0].series[1]).toEqual({ runId: ids[1], x: [1, 2, 3], y: [2, 1, 0.25], total: 3 });
    expect(answer.params.differing).toEqual([{ name: "rate", values: ["0.75", "0.25", "0.5"] }]);
    const markdown = await compare({ top, format: "markdown" });
    expect([markdown.type, markdown.text]).toEqual([
      "text/markdown; charset=utf-8",
      expect.stringContaining("# Comparison of 2 runs"),
    ]);
    const page = await compare({ runs: ids, format: "html" });
    expect([page.type, page.text]).toEqual(["text/html; charset=utf-8", expect.stringContaining("<!doctype html>")]);
  });

  it.each([
    [{}, 400, "INVALID_INPUT"],
    [{ runs: ["trained"], top: { metric: "loss" } }, 400, "INVALID_INPUT"],
    [{ runs: ["trained", "nobody"] }, 404, "RUN_NOT_FOUND"],
    [{ runs: ["trained"], baseline: "nobody" }, 404, "RUN_NOT_FOUND"],
    [{ top: { metric: "loss", experiments: ["nowhere"] } }, 404, "EXPERIMENT_NOT_FOUND"],
    [{ top: { metric: "nothing-loss" } }, 400, "INVALID_INPUT"],
  ])("%j is refused", async (body, status, code) => {
    const answer = await compare(body);
    expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([status, code]);
  });
});
