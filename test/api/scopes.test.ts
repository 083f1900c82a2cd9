import type { APIGatewayProxyEvent } from "aws-lambda";
import { createApp } from "../../api/app";
import { isOpenPath } from "../../api/http/tenancy";
import { mlflowOperations } from "../../api/mlflow/operations";
import { allOperations } from "../../api/operations";
import { type Scope, scopes } from "../../core/access/tokens";
import { createTestPlatform, useEmbedded } from "../support/embedded";

/** Operations whose scope does not follow from their method. */
const decisions = [
  "decideModelVersion",
  "decideTraffic",
  "getModelCheckKey",
  "rollBackModel",
  "setModelPolicy",
  "setModelVersionStage",
  "setTraffic",
];
const readOnlyPosts = ["compareRuns", "readOnlineFeatures", "routeUnits", "searchRuns"];
const writingGets = ["getNotificationKey"];
const readOnlyPostsOfMlflow = [
  "/mlflow/artifacts/presigned-download-url",
  "/mlflow/experiments/search",
  "/mlflow/experiments/search-datasets",
  "/mlflow/logged-models/search",
  "/mlflow/registered-models/get-latest-versions",
  "/mlflow/runs/search",
];

const signatureOf = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`;

describe("the scope of every operation", () => {
  it("is read of what changes nothing, approve of what decides, and write of all else", () => {
    const expected = (id: string, method: string): Scope => {
      if (decisions.includes(id)) return "approve";
      if (writingGets.includes(id)) return "write";
      return method === "GET" || readOnlyPosts.includes(id) ? "read" : "write";
    };
    expect(allOperations.map(({ operationId, scope }) => [operationId, scope])).toEqual(
      allOperations.map(({ operationId, method }) => [operationId, expected(operationId, method)]),
    );
    const known = allOperations.map(({ operationId }) => operationId);
    expect([...decisions, ...readOnlyPosts, ...writingGets].filter((id) => !known.includes(id))).toEqual([]);
  });

  it("is the same of MLflow's operations", () => {
    const expected = (method: string, path: string): Scope => {
      if (path === "/mlflow/model-versions/transition-stage") return "approve";
      return method === "GET" || readOnlyPostsOfMlflow.includes(path) ? "read" : "write";
    };
    expect(mlflowOperations.map((each) => [signatureOf(each), each.scope])).toEqual(
      mlflowOperations.map((each) => [signatureOf(each), expected(each.method, each.path)]),
    );
    const posts = mlflowOperations.filter(({ method }) => method === "POST").map(({ path }) => path);
    expect(readOnlyPostsOfMlflow.filter((path) => !posts.includes(path))).toEqual([]);
  });
});

describe("a token", () => {
  const embedded = useEmbedded();
  let app: ReturnType<typeof createApp>;
  let now: number;
  beforeAll(() => {
    const { platform } = createTestPlatform(embedded);
    app = createApp({ ...platform, clock: { now: () => now } }, { checkResponses: true });
  });
  beforeEach(() => {
    now = 1_000_000;
  });

  async function ask(method: string, path: string, authorizer: object) {
    const requestContext = { authorizer: { principalId: "ann", team: "default", ...authorizer } };
    const body = method === "GET" ? undefined : "{}";
    const headers = { "content-type": "application/json" };
    const event = { requestContext } as unknown as APIGatewayProxyEvent;
    const response = await app.request(path, { method, headers, body }, { event });
    return { status: response.status, text: await response.text() };
  }
  const operations = [
    ...allOperations.map(({ operationId, method, path, scope }) => ({
      ...{ name: operationId, method, path: `/api/v1${path}`, scope },
    })),
    ...mlflowOperations.flatMap((each) =>
      (each.version === "page" ? [""] : [`/api/${each.version ?? 2}.0`, `/ajax-api/${each.version ?? 2}.0`]).map(
        (base) => ({ ...each, name: signatureOf(each), path: `${base}${each.path}` }),
      ),
    ),
  ]
    .map((each) => ({ ...each, path: each.path.replaceAll(/\{\w+\}|\*/g, "1") }))
    .filter(({ path }) => !isOpenPath(path));

  it("does nothing that its scopes do not permit, by either API and any path", async () => {
    const answers = [];
    for (const { name, method, path, scope } of operations) {
      const others = scopes.filter((each) => each !== scope).join(" ");
      const { status, text } = await ask(method, path, { scopes: others });
      answers.push([name, path, status, text.includes(name) && text.includes(`requires scope ${scope}`)]);
    }
    expect(answers).toEqual(operations.map(({ name, path }) => [name, path, 403, true]));
  });

  it("of no known scope does nothing, and one without scopes is not restricted", async () => {
    expect((await ask("GET", "/api/v1/models", { scopes: "admin" })).status).toBe(403);
    expect((await ask("GET", "/api/v1/models", {})).status).toBe(200);
  });

  it.each<[string, object, number]>([
    ["openid email", {}, 200],
    ["ringmaster/write openid", {}, 403],
    ["ringmaster/read", {}, 200],
    ["ringmaster:read ringmaster:write", {}, 200],
    ["approve", {}, 200],
  ])("of another provider with scope %j is restricted by this API's scopes alone", async (scope, more, status) => {
    expect((await ask("GET", "/api/v1/models", { issuer: "https://id", scope, ...more })).status).toBe(status);
    const claims = { iss: "https://pool", sub: "1", scope };
    expect((await ask("GET", "/api/v1/models", { claims })).status).toBe(status);
  });

  it.each<[string, object]>([
    ["a Lambda authorizer", { issuer: "https://id", exp: "1060" }],
    ["Cognito, in seconds", { claims: { iss: "https://pool", sub: "1", exp: 1060 } }],
    ["Cognito, as a date", { claims: { iss: "https://pool", sub: "1", exp: "Thu Jan 01 00:17:40 UTC 1970" } }],
  ])("is refused from its expiry on, although the gateway still remembers it: %s", async (_name, authorizer) => {
    now = 1_059_999;
    expect((await ask("GET", "/api/v1/models", authorizer)).status).toBe(200);
    now = 1_060_000;
    expect(await ask("GET", "/api/v1/models", authorizer)).toMatchObject({
      status: 401,
      text: expect.stringContaining("expired at 1970-01-01T00:17:40.000Z"),
    });
    expect((await ask("GET", "/api/2.0/mlflow/registered-models/search", authorizer)).status).toBe(401);
  });

  it("whose expiry cannot be read is refused", async () => {
    expect((await ask("GET", "/api/v1/models", { exp: "soon" })).status).toBe(401);
  });
});
