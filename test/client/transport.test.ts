import { createClient } from "../../client/api-client";
import { ApiError, ApiTimeoutError, ApiUnreachableError } from "../../client/errors";

interface Sent {
  readonly url: string;
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A client whose requests are answered from a list: a status with a body, or an error that fetch rejects with. */
function clientOf(
  answers: readonly (Error | { readonly status: number; readonly body: unknown; readonly retryAfter?: string })[],
) {
  const sent: Sent[] = [];
  const pauses: number[] = [];
  const client = createClient({
    baseUrl: "http://api.test/live/",
    actor: "ada",
    random: () => 0.5,
    sleep: async (milliseconds) => void pauses.push(milliseconds),
    fetch: async (url, init) => {
      const answer = answers[sent.length];
      sent.push({ ...(init as unknown as Sent), url: String(url) });
      if (answer === undefined) throw new Error("called too often");
      if (answer instanceof Error) throw answer;
      const headers: Record<string, string> = answer.retryAfter ? { "retry-after": answer.retryAfter } : {};
      return Response.json(answer.body, { status: answer.status, headers });
    },
  });
  return { client, sent, pauses };
}

const failure = (status: number, code: string, retryAfter?: string) => ({
  status,
  body: { error: { code, message: code, requestId: "r-1" } },
  ...(retryAfter ? { retryAfter } : {}),
});
const run = { status: 201, body: { run: { runId: "run-1" } } };
const models = { status: 200, body: { models: [] } };
const networkError = new TypeError("fetch failed", {
  cause: Object.assign(new Error("reset"), { code: "ECONNRESET" }),
});
const refused = new TypeError("fetch failed", { cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }) });
const timeout = Object.assign(new Error("timed out"), { name: "TimeoutError" });

it("fills in paths and queries, and says what it sends", async () => {
  const body = { points: [{ step: 1, value: "NaN", time: 5 }], metric: "a/b" };
  const { client, sent } = clientOf([{ status: 200, body }]);
  const request = { params: { runId: "run/1" }, query: { metric: "a/b" } };
  expect(await client.call("getTrainingRunMetrics", request)).toEqual(body);
  expect(sent[0]).toMatchObject({
    url: "http://api.test/live/api/v1/training-runs/run%2F1/metrics?metric=a%2Fb",
    method: "GET",
    headers: { "x-ringmaster-actor": "ada" },
  });
  expect(sent[0]!.headers).not.toHaveProperty("content-type");
});

it("sends body and key as they are", async () => {
  const { client, sent } = clientOf([run]);
  await client.submitRun({ job: { experiment: "e", dataset: "d", model: { type: "mlp" } } }, "key-1");
  expect(sent[0]).toMatchObject({
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": "key-1" },
    body: '{"job":{"experiment":"e","dataset":"d","model":{"type":"mlp"}}}',
  });
});

describe("sends again", () => {
  it.each([
    ["a read that met a full gateway", "read", failure(503, "REGISTRY_BUSY")],
    ["a read whose connection broke", "read", networkError],
    ["a read that took too long", "read", timeout],
    ["a submission under a key", "submit", failure(502, "BAD_GATEWAY")],
    ["what must not be repeated, where it was throttled: nothing was done", "rollback", failure(429, "THROTTLED")],
  ] as const)("%s", async (_name, what, first) => {
    const second =
      what === "submit" ? run : what === "read" ? models : { status: 200, body: { model: {}, version: {} } };
    const { client, sent } = clientOf([first, second]);
    if (what === "submit")
      await client.submitRun({ job: { experiment: "e", dataset: "d", model: { type: "mlp" } } }, "k");
    else if (what === "read") await client.models();
    else await client.call("rollBackModel", { params: { name: "m" }, body: {} });
    expect(sent).toHaveLength(2);
    expect(sent[1]).toMatchObject({ url: sent[0]!.url, body: sent[0]!.body });
  });

  it("after a pause drawn below a doubling bound, never sooner than the API permits", async () => {
    const { client, pauses } = clientOf([failure(503, "A"), failure(503, "B", "2"), failure(503, "C"), models]);
    await client.models();
    expect(pauses).toEqual([100, 2_000, 400]); // half of 200, of 400 (but the API said 2 s), of 800
  });

  it("four times at most", async () => {
    const { client, sent } = clientOf(Array.from({ length: 9 }, () => failure(503, "REGISTRY_BUSY")));
    await expect(client.models()).rejects.toMatchObject({ code: "REGISTRY_BUSY", httpStatus: 503, requestId: "r-1" });
    expect(sent).toHaveLength(4);
  });
});

describe("does not send again", () => {
  it.each([
    ["what the API refused", "read", failure(404, "MODEL_NOT_FOUND"), ApiError],
    ["a permanent failure of the API", "read", failure(500, "INTERNAL"), ApiError],
    ["what may have been done", "rollback", failure(502, "BAD_GATEWAY"), ApiError],
    ["what may have been done, unanswered", "rollback", timeout, ApiTimeoutError],
    ["anything to where nobody listens", "read", refused, ApiUnreachableError],
  ] as const)("%s", async (_name, what, first, error) => {
    const { client, sent } = clientOf([first, models]);
    await expect(
      what === "read" ? client.models() : client.call("rollBackModel", { params: { name: "m" }, body: {} }),
    ).rejects.toThrow(error);
    expect(sent).toHaveLength(1);
  });
});

it("goes through a list page by page, and only as far as needed", async () => {
  const page = (from: number, nextToken?: string) => ({
    status: 200,
    body: { runs: [{ runId: `run-${from}` }, { runId: `run-${from + 1}` }], nextToken },
  });
  const { client, sent } = clientOf([page(1, "two"), page(3, "three"), page(5)]);
  const seen: string[] = [];
  for await (const { runId } of client.pages("listTrainingRuns", { query: { limit: 2 } })) seen.push(runId);
  expect(seen).toEqual(["run-1", "run-2", "run-3", "run-4", "run-5", "run-6"]);
  expect(sent.map(({ url }) => new URL(url).search)).toEqual([
    "?limit=2",
    "?limit=2&nextToken=two",
    "?limit=2&nextToken=three",
  ]);

  const half = clientOf([page(1, "two"), page(3)]);
  for await (const { runId } of half.client.pages("listTrainingRuns", {})) if (runId === "run-2") break;
  expect(half.sent).toHaveLength(1);
});

it("says so where the answer is not the API's", async () => {
  const page = async (): Promise<Response> => new Response("<html>", { status: 200 });
  await expect(createClient({ baseUrl: "http://api.test", fetch: page }).models()).rejects.toMatchObject({
    code: "BAD_RESPONSE",
    message: expect.stringContaining("GET /api/v1/models answered 200"),
  });
});
