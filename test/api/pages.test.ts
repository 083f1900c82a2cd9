import { createHash } from "node:crypto";
import { callApp, useTestApp } from "../support/app";
import { createEvaluatedRun, stepTimes } from "../support/evaluated-run";
import { resultOf, runOf } from "../support/fixtures";

const hostile = `</script><script>alert("x")</script><img src=x onerror='alert(1)'>&amp;\`*_[a](javascript:b)`;
/** AWS Lambda's answers end at 6 MB, as base64 or not. */
const largestPage = 4_500_000;

const { platform, app } = useTestApp();

async function call(method: string, path: string, body?: unknown) {
  const answer = await callApp(app, method, path, body, { "x-ringmaster-actor": "ada" });
  expect(answer.status).toBeLessThan(300);
  return answer.body;
}
const log = async (run: object): Promise<string> =>
  (await call("POST", "/runs", { experiment: "shown", ...run })).run.runId;
async function look(path: string, accept = "text/html,application/xhtml+xml") {
  const response = await app.request(`/api/v1/pages${path}`, { headers: { accept } });
  const { status, headers } = response;
  return { status, headers, text: await response.text() };
}
const experimentIdOf = async (runId: string): Promise<string> => (await call("GET", `/runs/${runId}`)).run.experimentId;
const put = async (runId: string, path: string, content: string | Uint8Array): Promise<void> => {
  const { sha256 } = await platform.objects.putContent(content);
  await call("POST", `/runs/${runId}/artifacts`, { artifacts: [{ path, sha256 }] });
};

/** Without what stands between quotes. */
function tagsOf(page: string): readonly string[] {
  const body = page.slice(page.indexOf("<body"), page.lastIndexOf("<script>"));
  return [...body.replaceAll(/"[^"]*"/g, '""').matchAll(/<[^>]*>/g)].map(([tag]) => tag);
}

const tilesOf = (page: string): readonly string[] =>
  [...page.matchAll(/<div class="tile"><p>(.*?)<\/p>/g)].map(([, name]) => name!.replaceAll("<wbr>", ""));
const plotsOf = (page: string): readonly string[] => {
  const [, section = ""] = page.split('<div class="evaluation">');
  return [...section.split("</section>")[0]!.matchAll(/role="img" aria-label="([^"]*)"/g)].map(([, label]) => label!);
};

function expectSafe({ text, headers }: Awaited<ReturnType<typeof look>>): void {
  const policy = headers.get("content-security-policy")!;
  expect(policy).toContain("default-src 'none'");
  expect(policy).toMatch(/sandbox allow-scripts(?: allow-forms)?(?: allow-downloads)?$/);
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  for (const element of ["style", "script"]) {
    const content = new RegExp(`<${element}>([\\s\\S]*?)</${element}>`).exec(text)![1]!;
    expect(policy).toContain(`${element}-src 'sha256-${createHash("sha256").update(content).digest("base64")}'`);
  }
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("cache-control")).toBe("private, no-store");
  expect(text).not.toMatch(/<(?:link|iframe|object|embed|base)\b|url\(|@import/i);
  // One script of the page's own, last of all; the others are data.
  const scripts = [...text.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)];
  const data = scripts.slice(0, -1);
  expect(scripts.at(-1)![1]).toBe("");
  expect(data.map(([, attributes]) => attributes)).toEqual(data.map(() => ' type="application/json"'));
  for (const [, , content] of data) expect(content).not.toContain("<");
  expect(tagsOf(text).join("\n")).not.toMatch(/\s(?:style|on\w+|srcset)=/);
  expect(text).not.toMatch(/(?:href|action)="(?!\.\.\/|runs\/|experiments|compare|https:\/\/)/);
  expect(text).not.toMatch(/src="(?!data:image\/(?:png|jpeg|gif|webp);base64,)/);
  expect(text.length).toBeLessThan(largestPage);
}

describe("the page of a run", () => {
  it("shows what is known of a run that was logged", async () => {
    const parent = await log({ name: "the sweep", tags: { goal: "smaller" } });
    const runId = await log({
      name: "three deep",
      parentRunId: parent,
      params: { depth: "3" },
      notes: "It was **good**.",
      datasets: [{ name: "mnist", digest: "9f86d081", sourceType: "local", source: '{"uri": "s3://b/mnist.csv"}' }],
      code: { repository: "https://git.example/a/b", commit: "4be1c2d93a7f", dirty: true },
      seed: 11,
    });
    const series = ["train/loss", "validation/loss"].map((metric) => ({ metric, steps: [1, 2], values: [2, 0.125] }));
    await call("POST", `/runs/${runId}/metrics`, { series });
    await put(runId, "plots/loss.png", new Uint8Array([137, 80, 78, 71]));
    await put(runId, "a dir/ö&.txt", "text");
    await platform.registry.register(platform.team, { model: "digit-reader", source: "s3://b/1", runId } as never, {
      by: "ada",
      at: "2030-01-01T00:00:00.000Z",
    });
    const page = await look(`/runs/${runId}`);
    expect(page.status).toBe(200);
    expectSafe(page);
    for (const part of [
      "<h1>three deep</h1>",
      '<span class="badge running">running</span>',
      "<strong>good</strong>",
      "digit-reader@1",
      "the sweep",
      "s3://b/mnist.csv",
      '<a href="https://git.example/a/b">',
      "uncommitted changes",
      "0.125",
      '<img src="data:image/png;base64,iVBORw=="',
      `href="../runs/${runId}/artifact?path=a+dir%2F%C3%B6%26.txt"`,
      'http-equiv="refresh"',
    ]) {
      expect(page.text).toContain(part);
    }
    // Both are lines of one plot.
    expect(page.text.match(/<figure class="plot curve">/g)).toHaveLength(1);
    const above = await look(`/runs/${parent}`);
    expect(above.text).toContain(`<a href="../runs/${runId}">three deep</a>`);
    expectSafe(above);
  });

  it("shows the evaluation of imbalanced classes: their metrics first, and four plots", async () => {
    await createEvaluatedRun(platform, "imbalanced", {
      classes: [hostile, "b"],
      labels: [1, 0, 0, 0, 0, 1, 0],
      outputs: [0.9, 0.8, 0.2, 0.1, 0.3, 0.7, 0.4],
    });
    const page = await look("/runs/imbalanced");
    expectSafe(page);
    expect(tilesOf(page.text).slice(0, 3)).toEqual(["test/auc", "test/prAuc", "test/logLoss"]);
    expect(plotsOf(page.text)).toEqual(["confusion matrix", "ROC curve", "precision-recall curve", "calibration"]);
    expect(page.text).toContain("average precision of class b");
  });

  it("shows the evaluation of several classes and of values", async () => {
    const outputs = [0.8, 0.1, 0.1, 0.2, 0.7, 0.1, 0.1, 0.2, 0.7, 0.5, 0.3, 0.2];
    await createEvaluatedRun(platform, "multiclass", { classes: ["a", "b", "c"], labels: [0, 1, 2, 1], outputs });
    const classes = await look("/runs/multiclass");
    expect(tilesOf(classes.text).slice(0, 3)).toEqual(["test/accuracy", "test/f1Macro", "test/logLoss"]);
    expect(plotsOf(classes.text)).toEqual(["confusion matrix", "ROC curve", "calibration"]);
    await createEvaluatedRun(platform, "regression", { classes: [], labels: [1, 2, 3], outputs: [1, 2.5, 3] });
    const values = await look("/runs/regression");
    expectSafe(values);
    expect(tilesOf(values.text).slice(0, 3)).toEqual(["test/rmse", "test/mae", "test/r2"]);
    expect(plotsOf(values.text)).toEqual(["predicted and true values"]);
  });

  it("marks a training that was reused", async () => {
    await platform.runs.create(runOf("reuser"));
    const step = { inputHash: "h", output: resultOf("trained"), reusedFrom: "trained" };
    await platform.runs.recordStep("reuser", { step: "LaunchTraining", ...step, ...stepTimes });
    const page = await look("/runs/reuser");
    expectSafe(page);
    expect(page.text).toContain('reused from <a href="../runs/trained">trained</a>');
  });

  it("shows where early stopping ended, and the best epoch", async () => {
    await platform.runs.create(runOf("stopper"));
    const earlyStopping = { metric: "validation/loss", bestEpoch: 4, value: 0.25, stopped: true };
    const output = { ...resultOf("stopper"), epochs: 7, earlyStopping };
    await platform.runs.recordStep("stopper", { step: "LaunchTraining", inputHash: "h", output, ...stepTimes });
    const { text } = await look("/runs/stopper");
    expect(text).toContain("<p>best epoch</p><strong>4</strong><p>validation/loss 0.25; stopped at epoch 7</p>");
  });

  it("is text, whatever anything is called", async () => {
    const runId = await log({
      name: hostile,
      params: { [hostile]: hostile },
      tags: { [hostile]: hostile },
      notes: hostile,
      metrics: { [hostile]: 1 },
      datasets: [{ name: hostile, digest: '"><b>', source: hostile, sourceType: hostile }],
      code: { repository: "javascript:alert(1)", branch: hostile, commit: hostile, entryPoint: hostile },
    });
    await call("POST", `/runs/${runId}/metrics`, { series: [{ metric: hostile, steps: [1, 2], values: [1, "NaN"] }] });
    await put(runId, `${hostile.replaceAll(/[/\\]/g, "")}.png`, "not an image");
    const page = await look(`/runs/${runId}`);
    expectSafe(page);
    // The one that was put, which is drawn from within the page.
    expect(tagsOf(page.text).filter((tag) => tag.startsWith("<img"))).toHaveLength(1);
    expect(page.text).not.toContain("<script>alert");
    expect(page.text).not.toContain('href="javascript');
    expect(page.text).not.toContain("<img src=x");
    expectSafe(await look(`/experiments/${await experimentIdOf(runId)}?filter=${encodeURIComponent(hostile)}`));
    expectSafe(await look(`/experiments/${await experimentIdOf(runId)}`));
  });

  it("is bounded, however much there is", async () => {
    const long = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`p${i}`, `${i}`.repeat(500)]));
    const runId = await log({ params: long, tags: long, notes: "n ".repeat(40_000) });
    const series = Array.from({ length: 80 }, (_, m) => ({
      metric: `${m < 50 ? "m" : "system/worker-0/m"}${m}`,
      steps: Array.from({ length: 400 }, (_, step) => step),
      values: Array.from({ length: 400 }, (_, step) => Math.sin(step * m)),
    }));
    for (let at = 0; at < 80; at += 20)
      await call("POST", `/runs/${runId}/metrics`, { series: series.slice(at, at + 20) });
    await put(runId, "huge.png", new Uint8Array(500_000));
    const page = await look(`/runs/${runId}`);
    expectSafe(page);
    expect(page.text.match(/<figure class="plot curve">/g)).toHaveLength(24 + 30);
    expect(page.text).not.toContain("<img");
    expect(page.text).toContain("and 400 more");
  });

  it("has no links where it is kept as a file", async () => {
    const runId = await log({ name: "kept" });
    await put(runId, "a.txt", "a");
    for (const path of [`/runs/${runId}`, `/experiments/${await experimentIdOf(runId)}`]) {
      const { text } = await look(`${path}?links=false`);
      expect(text).not.toContain("<a ");
      expect(text).not.toContain("<form");
      expect(text).toContain("kept");
    }
  });

  it("leads to its files, as files", async () => {
    const runId = await log({});
    await put(runId, "sub/page.html", "<script>alert(1)</script>");
    const { status, headers } = await look(`/runs/${runId}/artifact?path=sub%2Fpage.html`);
    expect(status).toBe(307);
    const stored = await fetch(headers.get("location")!);
    expect(stored.headers.get("content-type")).toBe("application/octet-stream");
    expect(stored.headers.get("content-disposition")).toBe("attachment; filename=page.html");
    expect(await stored.text()).toBe("<script>alert(1)</script>");
  });
});

describe("the page of an experiment", () => {
  it("filters, orders and pages", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 53; i++) {
      const metrics = i % 2 === 0 ? { val_loss: i / 10 } : {};
      ids.push(
        await log({
          experiment: "paged",
          name: `number ${i}`,
          params: { depth: String(i % 3) },
          metrics,
          startedAt: i,
        }),
      );
    }
    const experimentId = await experimentIdOf(ids[0]!);
    const namesOn = async (query: string) => {
      const page = await look(`/experiments/${experimentId}${query}`);
      expectSafe(page);
      const names = [...page.text.matchAll(/<a href="\.\.\/runs\/[^"]*">([^<]*)<\/a>/g)].map(([, name]) => name);
      return { names, text: page.text };
    };
    const newest = await namesOn("");
    expect(newest.names.slice(0, 2)).toEqual(["number 52", "number 51"]);
    expect(newest.names).toHaveLength(50);
    const next = /<a href="([^"]*)">next 50 runs<\/a>/.exec(newest.text)![1]!.replaceAll("&amp;", "&");
    const rest = await look(`/experiments/${next.replace("../experiments/", "")}`);
    expect([...rest.text.matchAll(/>(number \d+)<\/a>/g)].map(([, name]) => name)).toEqual([
      "number 2",
      "number 1",
      "number 0",
    ]);

    const best = await namesOn(
      `?filter=${encodeURIComponent("metrics.val_loss < 0.5")}&orderBy=${encodeURIComponent("metrics.`val_loss` ASC")}`,
    );
    expect(best.names).toEqual(["number 0", "number 2", "number 4"]);
    // A click on the heading turns the order round, and keeps the filter.
    expect(best.text).toContain(`filter=metrics.val_loss+%3C+0.5&amp;orderBy=metrics.%60val_loss%60+DESC">val_loss ↑`);
    expect(best.text).toContain(`runs=${encodeURIComponent(JSON.stringify([ids[0], ids[2], ids[4]]))}`);
  });

  it("says what is wrong with a filter, and keeps it", async () => {
    const experimentId = await experimentIdOf(await log({}));
    const { status, text } = await look(`/experiments/${experimentId}?filter=${encodeURIComponent("metrics.loss >")}`);
    expect(status).toBe(200);
    expect(text).toContain("filter at character 15");
    expect(text).toContain('value="metrics.loss &gt;"');
  });
});

it("the page of a comparison is the report", async () => {
  const ids = [await log({ params: { depth: "1" } }), await log({ params: { depth: "2" } })];
  const page = await look(`/compare?runs=${encodeURIComponent(JSON.stringify(ids))}&baseline=${ids[0]}`);
  expect(page.status).toBe(200);
  expectSafe(page);
  expect(page.text).toContain("Comparison of 2 runs");
});

describe("what cannot be shown", () => {
  it.each([
    ["/runs/nobody/artifact?path=a", 404, "RUN_NOT_FOUND"],
    ["/experiments/99999", 404, "EXPERIMENT_NOT_FOUND"],
    ["/experiments/0?what=1", 400, "INVALID_INPUT"],
    ["/compare?runs=a", 400, "INVALID_INPUT"],
    ["/compare?runs=%5B%22nobody%22%5D", 404, "RUN_NOT_FOUND"],
    [`/runs/${encodeURIComponent("<script>")}`, 404, "RUN_NOT_FOUND"],
  ])("%s is refused to people in a page and to programs as JSON", async (path, status, code) => {
    const page = await look(path);
    expect([page.status, page.headers.get("content-type")]).toEqual([status, "text/html; charset=utf-8"]);
    expect(page.text).toContain(code);
    expectSafe(page);
    const answer = await look(path, "application/json");
    expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([status, code]);
  });
});

describe("the form that registers a run", () => {
  const post = (runId: string, headers: Readonly<Record<string, string>>) =>
    app.request(`/api/v1/pages/runs/${runId}/register?as=m`, {
      method: "POST",
      headers: { accept: "text/html", ...headers },
    });

  it("is confirmed on a page without script, which states its origin when it posts", async () => {
    await platform.runs.create(runOf("run-form"));
    const { status, headers, text } = await look("/runs/run-form/register?as=a%26b");
    expect([status, headers.get("referrer-policy")]).toEqual([200, "same-origin"]);
    const policy = headers.get("content-security-policy");
    expect(policy).toMatch(/default-src 'none'; style-src 'sha256-\S+'; base-uri 'none'; form-action 'self'/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/sandbox|script-src/);
    expect(text).toContain('method="post" action="register?as=a%26b"');
    expect(text).not.toContain("<script");
  });

  it.each([[{}], [{ "sec-fetch-site": "cross-site" }], [{ "sec-fetch-site": "same-site" }]])(
    "is refused with the headers %j, and shown why",
    async (headers) => {
      const response = await post("run-form", headers);
      expect([response.status, response.headers.get("content-type")]).toEqual([403, "text/html; charset=utf-8"]);
      expect(await response.text()).toContain("must be sent by a page of this API");
    },
  );

  it("shows why a run cannot be registered", async () => {
    expect((await look("/runs/no-run/register?as=m")).status).toBe(404);
    expect((await look("/runs/run-form/register?as=")).status).toBe(400);
    const response = await post("run-form", { "sec-fetch-site": "same-origin" });
    expect([response.status, await response.text()]).toEqual([409, expect.stringContaining("RUN_NOT_COMPLETED")]);
    expect((await platform.registry.repository.list()).map(({ name }) => name)).not.toContain("m");
  });
});
