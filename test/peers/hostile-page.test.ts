import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DynamoDBClient, ListTablesCommand, PutItemCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { TestStack, until } from "../e2e/harness";
import { presign } from "../support/sign";
import { toyCsv, toyJob, toySchema } from "../support/toy";
import { startServer, type WebServer } from "../support/web-server";
import { Browser, chromium, type Page } from "./chromium";

const title = chromium
  ? "a hostile page in Chromium"
  : "a hostile page in Chromium: skipped, because no Chromium is installed (set RINGMASTER_CHROMIUM to its path)";

/** A function's source: what a page may try against an address. */
const attack = readFileSync(join(__dirname, "hostile-attempts.js"), "utf8").replace(
  /^.*?\nmodule\.exports = |;\s*$/gs,
  "",
);

(chromium ? describe : describe.skip)(title, () => {
  const stack = new TestStack();
  /** The attacker's own server: serves a page, and notes who reports to it. */
  let attacker: WebServer;
  let evil: string;
  let reports: string[] = [];
  let browser: Browser;
  let page: Page;
  let dynamodb: DynamoDBClient;
  let runId: string;
  let trained: string;

  beforeAll(async () => {
    attacker = await startServer((request, response) => {
      if (request.url !== "/") reports.push(request.url ?? "");
      response.writeHead(200, { "content-type": "text/html", "access-control-allow-origin": "*" });
      response.end("<!doctype html><body>");
    });
    evil = attacker.endpoint;
    await stack.up();
    dynamodb = stack.client(DynamoDBClient);
    browser = new Browser(["rebound.test"]);
    page = await browser.page();
    const { run } = await call<{ run: { info: { run_id: string } } }>("runs/create", { experiment_id: "0" });
    runId = run.info.run_id;
    const csv = stack.file("toy.csv", toyCsv(300));
    await stack.json(["datasets", "push", "toy", "--file", csv, "--schema", stack.file("schema.yaml", toySchema)]);
    const job = stack.file("job.yaml", toyJob(1).replace("registerAs: toy\n", ""));
    trained = (await stack.json<{ run: { runId: string } }>(["submit", job, "--wait"])).run.runId;
  }, 120_000);

  afterAll(async () => {
    dynamodb?.destroy();
    await browser?.close();
    await stack.remove();
    await attacker.close();
  });

  async function call<T>(operation: string, body: object): Promise<T> {
    const response = await fetch(`${stack.url}/api/2.0/mlflow/${operation}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...authorization },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${operation}: ${await response.text()}`);
    return (await response.json()) as T;
  }
  /** Set once the API requires a token. */
  let authorization: Record<string, string> = {};

  const rows = async (): Promise<number> =>
    (await dynamodb.send(new ScanCommand({ TableName: "ringmaster-Catalog", Select: "COUNT" }))).Count!;

  /** Files that a browser would run scripts of. Each script reports to the attacker, and tries the API. */
  const files = (): Readonly<Record<string, string>> => {
    const script = `fetch("${evil}/ran", { mode: "no-cors" }); new Image().src = "${evil}/image"; (${attack})("${stack.url}/api/v1/models", "{}")`;
    return {
      "report.html": `<!doctype html><body><img src="${evil}/markup"><script>${script}</script>`,
      "figure.svg": `<svg xmlns="http://www.w3.org/2000/svg"><script>${script.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</script></svg>`,
      "data.xml": `<x:script xmlns:x="http://www.w3.org/1999/xhtml">fetch("${evil}/ran", { mode: "no-cors" })</x:script>`,
    };
  };

  it("runs its scripts where the attacker serves it, which shows that the checks below can fail", async () => {
    reports = [];
    await page.open(`${evil}/`);
    await page.evaluate(
      `document.write(${JSON.stringify(files()["report.html"])}); new Promise((done) => setTimeout(done, 300))`,
    );
    expect(reports).toEqual(expect.arrayContaining(["/ran", "/image", "/markup"]));
    expect(await page.evaluate(`(${attack})("${evil}/x", "{}")`)).not.toEqual([]);
  });

  describe.each([false, true])("with tokens: %s", (tokens) => {
    beforeAll(async () => {
      if (!tokens) return;
      const create = ["tokens", "create", "--team", "default", "--actor", "ann"];
      const { token } = await stack.json<{ token: string }>(create);
      authorization = { authorization: `Bearer ${token}` };
      // A person who opened the pages: from now on the browser sends the token to this origin by itself.
      expect(await page.open(`${stack.url.replace("//", `//any:${token}@`)}/api/v1/pages/experiments`)).toBe(true);
      expect(await page.evaluate<string>("document.title")).not.toMatch(/401|token/i);
    });

    it.each(["report.html", "figure.svg", "data.xml"])(
      "never shows the uploaded %s, whatever way leads to it",
      async (name) => {
        const bytes = files()[name]!;
        const place = `0/${runId}/artifacts/${name}`;
        const uploaded = await fetch(`${stack.url}/api/2.0/mlflow-artifacts/artifacts/${place}`, {
          method: "PUT",
          body: bytes,
          headers: authorization,
        });
        expect(uploaded.status).toBe(200);
        const presigned = (await (
          await fetch(`${stack.url}/api/2.0/mlflow-artifacts/presigned/${place}`, { headers: authorization })
        ).json()) as { readonly url: string };
        const { endpoint, credentials } = stack.connection;
        const stored = presigned.url.split("?")[0]!;
        const kind = { "report.html": "text/html", "figure.svg": "image/svg+xml", "data.xml": "application/xml" }[
          name
        ]!;
        const query = new URLSearchParams({ "response-content-type": kind, "response-content-disposition": "inline" });
        const owners = await presign({ url: `${stored}?${query}`, service: "s3" }, credentials);
        expect(owners).toContain(endpoint);
        reports = [];
        const ways = [
          `${stack.url}/api/v1/pages/runs/${runId}/artifact?path=${name}`,
          `${stack.url}/get-artifact?path=${name}&run_uuid=${runId}`,
          `${stack.url}/api/2.0/mlflow-artifacts/artifacts/${place}`,
          presigned.url,
          owners,
        ];
        for (const url of ways) {
          await page.open(`${evil}/`);
          reports = [];
          expect([url, await page.open(url)]).toEqual([url, false]);
          expect([
            url,
            await fetch(url, { headers: url.startsWith(stack.url) ? authorization : {} }).then((r) => r.status),
          ]).toEqual([url, 200]);
        }
        // Another page's frames and objects get nothing to show either.
        await page.open(`${evil}/`);
        for (const url of ways) await page.evaluate(`(${attack})(${JSON.stringify(url)}, "{}")`);
        expect(reports.filter((path) => path !== "/favicon.ico")).toEqual([]);
      },
      120_000,
    );

    it("saves a file by the link on the page of its run", async () => {
      expect(await page.open(`${stack.url}/api/v1/pages/runs/${runId}`)).toBe(true);
      rmSync(browser.downloads, { recursive: true, force: true });
      await page.evaluate(`document.querySelector("a[href*='report.html']").click()`);
      const saved = await until("the download", async () =>
        existsSync(join(browser.downloads, "report.html"))
          ? readFileSync(join(browser.downloads, "report.html"), "utf8")
          : undefined,
      );
      expect(saved).toBe(files()["report.html"]);
    });

    it("registers a run by the forms on its page", async () => {
      const model = `by-form-${tokens}`;
      const path = `${stack.url}/api/v1/pages/runs/${trained}`;
      // The first form is shown only for a run without a version.
      await page.open(tokens ? `${path}/register?as=${model}` : path);
      if (!tokens) {
        await page.evaluate(`document.querySelector("input[name=as]").value = "${model}"`);
        await page.evaluate(`document.querySelector("form[action$='/register'] button").click()`);
      }
      const confirmation = () => page.evaluate<boolean>(`document.querySelector("form[method=post]") !== null`);
      await until("the confirmation", async () => (await confirmation().catch(() => false)) || undefined);
      await page.evaluate(`document.querySelector("form[method=post] button").click()`);
      const shown = await until("the run's page", async () => {
        const [at, text] = await page
          .evaluate<[string, string]>("[location.pathname, document.body.innerText]")
          .catch(() => ["", ""]);
        return at.endsWith(`/runs/${trained}`) || /not be shown/.test(text) ? at : undefined;
      });
      expect(shown).toBe(`/api/v1/pages/runs/${trained}`);
      const response = await fetch(`${stack.url}/api/v1/models/${model}/versions/1`, { headers: authorization });
      expect(await response.json()).toMatchObject({ version: { runId: trained } });
    }, 120_000);

    it.each([
      ["a page of another port", () => evil],
      ["a page of the same machine under another name", () => evil.replace("127.0.0.1", "localhost")],
      ["a page of a name that resolves here", () => evil.replace("127.0.0.1", "rebound.test")],
    ])(
      "lets %s neither read nor write, on either port",
      async (_who, origin) => {
        const name = `hostile-${Math.random()}`;
        const before = await rows();
        const put = { TableName: "ringmaster-Catalog", Item: { pk: { S: name }, sk: { S: name } } };
        const targets: readonly (readonly [url: string, body: string])[] = [
          [`${stack.url}/api/v1/models`, "{}"],
          [`${stack.url}/api/2.0/mlflow/experiments/create`, JSON.stringify({ name })],
          [`${stack.url}/api/2.0/mlflow/runs/create`, JSON.stringify({ experiment_id: "0" })],
          // Takes a body of any type: a form could send it.
          [`${stack.url}/ajax-api/2.0/mlflow/upload-artifact?run_uuid=${runId}&path=${name}`, "written"],
          [`${stack.url}/api/v1/pages/runs/${trained}/register?as=${name.replace(".", "-")}`, "{}"],
          [`${stack.connection.endpoint}/`, JSON.stringify(put)],
          [`${stack.connection.endpoint}/ringmaster-data/?list-type=2`, ""],
          [`${stack.connection.endpoint}/_ringmaster/clock`, '{"advanceSeconds":60}'],
          [`${stack.connection.endpoint}/_ringmaster/health`, "{}"],
        ];
        await page.open(`${origin()}/`);
        for (const [url, body] of targets) {
          expect([url, await page.evaluate(`(${attack})(${JSON.stringify(url)}, ${JSON.stringify(body)})`)]).toEqual([
            url,
            [],
          ]);
        }
        expect(await rows()).toBe(before);
        // The same request, signed by the owner: it does write.
        await dynamodb.send(new PutItemCommand(put));
        expect(await rows()).toBe(before + 1);
        expect((await dynamodb.send(new ListTablesCommand({}))).TableNames).toContain("ringmaster-Catalog");
      },
      120_000,
    );

    it.each(["api", "services"] as const)(
      "answers no page whose name was made to resolve to the port (%s)",
      async (port) => {
        const { endpoint } = stack.connection;
        const url = (port === "api" ? stack.url : endpoint).replace("127.0.0.1", "rebound.test");
        expect(await page.open(`${url}/api/v1/models`)).toBe(true);
        const text = await page.evaluate<string>("document.body.innerText");
        expect(text).toMatch(/rebound\.test/);
        // The page has the origin of its own address, so that it may read the answers: they are all refusals.
        const answers = await page.evaluate<readonly number[]>(
          `Promise.all(["/api/v1/models", "/api/v1/health", "/_ringmaster/health", "/"].map((path) => fetch(path).then((r) => r.status, () => 403)))`,
        );
        expect(answers).toEqual([403, 403, 403, 403]);
      },
    );
  });
});
