import { createHash } from "node:crypto";
import { createApp } from "../../api/app";
import { allOperations } from "../../api/operations";
import { useTestApp } from "../support/app";
import { jobInput, registerTestDataset } from "../support/fixtures";

const { platform, app } = useTestApp();
beforeAll(async () => {
  await registerTestDataset(platform);
});

const json = { "content-type": "application/json" };
async function call(method: string, path: string, body?: string, headers: Record<string, string> = json) {
  const response = await app.request(`/api/v1${path}`, { method, headers, body });
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
}
const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

describe("a request that is none of ours", () => {
  it.each([
    ["an unknown path", "GET", "/nothing", undefined, json, 404, "ROUTE_NOT_FOUND"],
    ["no JSON", "POST", "/training-runs", "{", json, 400, "INVALID_INPUT"],
    ["JSON that is no object", "POST", "/training-runs", "[]", json, 400, "INVALID_INPUT"],
    [
      "a form",
      "POST",
      "/training-runs",
      "a=b",
      { "content-type": "application/x-www-form-urlencoded" },
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    [
      "JSON that says it is text",
      "POST",
      "/training-runs",
      "{}",
      { "content-type": "text/plain" },
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    ["a body past 10 MiB", "POST", "/uploads", " ".repeat(10 * 1024 * 1024 + 1), json, 413, "BODY_TOO_LARGE"],
    ["a body of 25 levels", "POST", "/training-runs", deep(25), json, 400, "INVALID_INPUT"],
    ["a body of a million levels", "POST", "/training-runs", "[".repeat(1_000_000), json, 400, "INVALID_INPUT"],
    ["an unknown query parameter", "GET", "/training-runs?limt=5", undefined, json, 400, "INVALID_INPUT"],
    ["a query parameter twice", "GET", "/training-runs?limit=5&limit=6", undefined, json, 400, "INVALID_INPUT"],
    [
      "a key that is too long",
      "POST",
      "/training-runs",
      "{}",
      { ...json, "idempotency-key": "k".repeat(256) },
      400,
      "INVALID_INPUT",
    ],
    ["a name past 255 characters", "GET", `/datasets/${"n".repeat(256)}`, undefined, json, 400, "INVALID_INPUT"],
  ])("%s", async (_name, method, path, body, headers, status, code) => {
    const answer = await call(method, path, body, headers);
    expect(answer).toMatchObject({
      status,
      body: { error: { code, message: expect.any(String), requestId: answer.headers.get("x-request-id") } },
    });
  });

  it("says where the depth's limit lies, not that the JSON is bad", async () => {
    const { body } = await call("POST", "/training-runs", deep(25));
    expect(body.error.details.problems).toEqual([{ path: "", rule: "must be at most 24 levels deep" }]);
    const brackets = JSON.stringify({ job: '[[[[{{{{\\"'.repeat(20) });
    expect((await call("POST", "/training-runs", brackets)).body.error.message).not.toContain("deep");
  });
});

it.each([
  ["DELETE", "/training-runs", "POST, GET, HEAD"],
  ["POST", "/models/digits", "GET, HEAD, DELETE"],
  ["GET", "/models/digits/rollback", "POST"],
])("%s %s is answered 405 with what the path takes", async (method, path, allow) => {
  const answer = await call(method, path);
  expect(answer).toMatchObject({ status: 405, body: { error: { code: "METHOD_NOT_ALLOWED" } } });
  expect(answer.headers.get("allow")?.split(", ").sort()).toEqual(allow.split(", ").sort());
});

it("takes what is allowed: +json, a charset, a presigned URL's parameters, an empty body where all has defaults", async () => {
  const job = JSON.stringify({ job: jobInput() });
  expect(
    (await call("POST", "/training-runs", job, { "content-type": "application/json; charset=utf-8" })).status,
  ).toBe(201);
  expect((await call("POST", "/training-runs", job, { "content-type": "application/vnd.x+json" })).status).toBe(201);
  expect((await call("GET", "/training-runs?limit=1&X-Amz-Signature=abc&X-Amz-Date=now")).status).toBe(200);
  expect((await call("POST", "/datasets/digits/versions/1/deprecate")).status).toBe(200);
});

it("HEAD is GET without a body", async () => {
  const response = await app.request("/api/v1/health", { method: "HEAD" });
  expect([response.status, await response.text()]).toEqual([200, ""]);
});

describe("pages of other origins", () => {
  const origin = "https://console.example.com";
  const ask = async (from: string, method: string, path: string) => {
    const open = createApp(platform, { corsOrigins: [origin] });
    const headers = { origin: from, "access-control-request-method": "POST" };
    const response = await open.request(`/api/v1${path}`, { method, headers });
    return [response.status, response.headers.get("access-control-allow-origin")];
  };
  it.each([
    ["may call where they are named: the browser's question", origin, "OPTIONS", "/training-runs", [204, origin]],
    ["may read answers", origin, "GET", "/training-runs", [200, origin]],
    ["may read refusals", origin, "GET", "/training-runs/none", [404, origin]],
    ["may not where they are not named", "https://evil.example.com", "OPTIONS", "/training-runs", [204, null]],
  ])("%s", async (_name, from, method, path, expected) => expect(await ask(from, method, path)).toEqual(expected));

  it("may read the headers that the allOperations name, but of redirects, which the browser follows", async () => {
    const named = allOperations.flatMap(({ responses }) =>
      Object.entries(responses).flatMap(([status, { headers = {} }]) =>
        /^30[37]$/.test(status) ? [] : Object.keys(headers),
      ),
    );
    const open = createApp(platform, { corsOrigins: [origin] });
    const response = await open.request("/api/v1/models", { headers: { origin } });
    const exposed = response.headers.get("access-control-expose-headers")?.split(",");
    expect(exposed).toEqual(expect.arrayContaining([...new Set(named)].map((name) => name.toLowerCase())));
    expect(named).not.toEqual([]);
  });

  it("may not where none is named", async () => {
    const response = await app.request("/api/v1/training-runs", { method: "OPTIONS", headers: { origin } });
    expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([405, null]);
  });
});

describe("the documentation's page", () => {
  it("needs nothing from elsewhere, and its policy allows its own style and script by their digests alone", async () => {
    const response = await app.request("/api/v1/docs");
    const page = await response.text();
    const policy = response.headers.get("content-security-policy");
    expect(page).not.toMatch(/(src|href)="(https?:)?\/\//);
    expect(page).not.toMatch(/ (style|on\w+)="/);
    for (const tag of ["style", "script"]) {
      const [, text] = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(page)!;
      const digest = createHash("sha256").update(text!).digest("base64");
      expect(policy).toContain(`${tag}-src 'sha256-${digest}'`);
    }
    expect(policy).toContain("default-src 'none'");
  });

  it("links to nothing that it lacks, and shows every operation", async () => {
    const page = await (await app.request("/api/v1/docs")).text();
    const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(links.filter((id) => !ids.has(id))).toEqual([]);
    const document = (await call("GET", "/openapi.json")).body as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
    expect(operations.filter(({ operationId }) => !ids.has(operationId))).toEqual([]);
  });
});
