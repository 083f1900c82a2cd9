import { createApp } from "../../api/app";
import type { OpenApiDocument } from "../../api/openapi/model";
import { openApiText } from "../../api/openapi/text";
import { allOperations } from "../../api/operations";
import { useTestApp } from "../support/app";
import { registerTestDataset } from "../support/fixtures";
import { allRows } from "../support/rows";
import { goodBodies } from "./fuzz/good";
import { Knowledge, type Thing } from "./fuzz/knowledge";
import { filled, knownAs, operationsOf } from "./fuzz/requests";
import { type Case, cases, furnishTeam, nothingLike } from "./tenancy-cases";

const operations = operationsOf(JSON.parse(openApiText()) as OpenApiDocument);
const order = ["GET", "PUT", "PATCH", "POST", "DELETE"];
/** Reads first, deletions last. */
const routes = allOperations
  .map(({ operationId, method, path }) => {
    const route = `${method} ${path}`;
    return { route, operationId, method, ...cases[route] };
  })
  .sort(
    (a, b) => Number(a.last ?? false) - Number(b.last ?? false) || order.indexOf(a.method) - order.indexOf(b.method),
  );
type Route = Case & { readonly route: string; readonly operationId: string };

describe("no call crosses a team", () => {
  const { embedded, platform, app } = useTestApp();
  let things: Thing;
  let nothing: Thing;
  /** All rows after the last call, if it was refused. */
  let rows: Awaited<ReturnType<typeof allRows>> | undefined;
  beforeAll(async () => {
    things = await furnishTeam(platform.forTeam("red"));
    nothing = nothingLike(things);
    // Reading them creates a team's default experiment.
    await platform.forTeam("blue").experiments.list();
  });

  async function call(team: string, { operationId, body, query = "" }: Route, of: Thing) {
    const described = operations.get(operationId)!;
    const { operation, path } = described;
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
    const known = (name: string) => {
      if (name === "check") return { literal: path.endsWith("/key") ? "hook" : "review" };
      if (name === "version" && path.includes("/feature-views")) return { literal: "1" };
      return name === "epoch" ? { literal: "2" } : { known: knownAs(operation, name) };
    };
    const sent = body ?? (operation.requestBody && goodBodies[operationId]?.[0]);
    const knowledge = new Knowledge();
    knowledge.furnish([of]);
    const draft = {
      ...{ operationId, at: 1, query: {}, headers: {}, follows: false },
      path: Object.fromEntries(names.map((name) => [name, known(name)])),
      ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
    };
    const request = filled(described, draft, knowledge);
    const response = await app.request(`/api/v1${request.path}${query.replace("@runId", String(of["runId"]))}`, {
      method: request.method,
      headers: { "content-type": "application/json", "x-ringmaster-team": team },
      body: request.body,
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    return { status: response.status, text, body: isJson ? JSON.parse(text) : {} };
  }

  const namesIn = (of: Thing): readonly string[] =>
    ["runId", "experiment", "dataset", "trigger", "monitor", "study", "view", "pipeline", "pipelineRunId", "id"].map(
      (name) => String(of[name]),
    );

  /** A refusal without what differs by nature: the names that were requested, and the request's id. */
  const comparable = ({ status, body }: { status: number; body: { error: object } }, of: Thing) => {
    const error = JSON.stringify({ ...body.error, requestId: undefined });
    const names = [...namesIn(of), of["model"], of["sha256"]].map(String).sort((a, b) => b.length - a.length);
    const numbered = error.replaceAll(new RegExp(`\\\\?"${of["experimentId"]}\\\\?"`, "g"), "…");
    return [status, names.reduce((text, name) => text.replaceAll(name, "…"), numbered)];
  };

  it("has a case for no route that there is not", () => {
    expect(Object.keys(cases).filter((route) => !routes.some((each) => each.route === route))).toEqual([]);
  });

  it.each(routes)("$route is closed to another team", async (route) => {
    const { other = "absent" } = route;
    const before = rows ?? (await allRows(embedded));
    const answer = await call("blue", route, things);
    rows = answer.status >= 400 ? await allRows(embedded) : undefined;
    if (rows !== undefined) expect(rows).toEqual(before);
    if (other === "absent") {
      expect([answer.status, answer.text]).toEqual([404, answer.text]);
      expect(comparable(answer, things)).toEqual(comparable(await call("blue", route, nothing), nothing));
    } else if (typeof other === "object") {
      expect([answer.body.error.code, answer.status < 500]).toEqual([other.refused, true]);
    } else {
      expect([answer.status < 300, answer.text]).toEqual([true, answer.text]);
      const shown = namesIn(things).filter((name) => answer.text.includes(name));
      expect(route.route.startsWith("PUT /datasets") ? [] : shown).toEqual([]);
    }
  });

  it.each(routes)("$route is open to the owner's", async (route) => {
    const { status, text } = await call("red", route, things);
    // A request that its owner may send is refused to the owner only for another reason.
    if (route.owner === undefined) expect([status < 400, text]).toEqual([true, text]);
    else expect(status).toBe(route.owner);
    const isList = route.other === "own" && /^GET .*s$/.test(route.route) && !/docs$/.test(route.route);
    if (isList && route.route !== "GET /notifications")
      expect([...namesIn(things), things["model"]].some((name) => text.includes(String(name)))).toBe(true);
  });

  it("another team's upload of the same content is its own", async () => {
    const route = routes.find((each) => each.route === "POST /uploads")!;
    expect(
      (await call("red", { ...route, body: { contents: [{ sha256: "@sha256", bytes: 5 }] } }, things)).body,
    ).toEqual({
      missing: [],
    });
    const { missing } = (await call("green", route, things)).body;
    expect(missing[0].sha256).toBe(things["sha256"]);
    expect(new URL(missing[0].url).pathname).toContain("/teams/green/cas/");
  });

  it.each(["/training-runs", "/datasets"])("%s: a page token of one team opens nothing to another", async (path) => {
    const list = (team: string, query: string) =>
      app.request(`/api/v1${path}?limit=1${query}`, { headers: { "x-ringmaster-team": team } });
    await registerTestDataset(platform.forTeam("red"), "second-dataset");
    const { nextToken } = (await (await list("red", "")).json()) as { nextToken: string };
    expect(nextToken).toEqual(expect.any(String));
    const answer = await list("blue", `&nextToken=${nextToken}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code: "INVALID_INPUT" } });
  });
});

describe("who a call is for", () => {
  const directory = [
    { name: "vision", principals: ["arn:aws:iam::1:role/vision-*"], groups: ["vision", "both"] },
    { name: "audio", principals: [], groups: ["both"] },
  ];
  const { platform, app } = useTestApp({ directory });

  const submit = (requestContext: object, headers: Record<string, string> = {}) =>
    app.request(
      "/api/v1/uploads",
      {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ contents: [{ sha256: "0".repeat(64), bytes: 1 }] }),
      },
      { event: { requestContext } } as never,
    );
  const session = { identity: { userArn: "arn:aws:sts::1:assumed-role/vision-ci/build-7" } };
  const both = { authorizer: { claims: { "cognito:groups": "both", email: "ann@example.com" } } };

  it.each([
    ["a role's session", session, {}, "vision"],
    ["a role's session that says so", session, { "x-ringmaster-team": "vision" }, "vision"],
    ["a member of several teams who chooses", both, { "x-ringmaster-team": "audio" }, "audio"],
  ])("%s", async (_who, requestContext, headers, team) => {
    const { missing } = (await (await submit(requestContext, headers as Record<string, string>)).json()) as {
      missing: { url: string }[];
    };
    expect(new URL(missing[0]!.url).pathname).toContain(`/teams/${team}/cas/`);
  });

  it.each([
    ["a member of several teams who does not choose", both, {}, 400, "TEAM_NOT_CHOSEN"],
    ["a member of one who asks for another", session, { "x-ringmaster-team": "audio" }, 403, "NOT_IN_TEAM"],
    ["a stranger", { identity: { userArn: "arn:aws:iam::1:user/eve" } }, {}, 403, "NO_TEAM"],
    [
      "a stranger who asks for a team",
      { identity: { userArn: "arn:aws:iam::1:user/eve" } },
      { "x-ringmaster-team": "vision" },
      403,
      "NO_TEAM",
    ],
    ["nobody", { identity: { userArn: null } }, { "x-ringmaster-actor": "ann" }, 403, "NO_TEAM"],
  ])("%s is refused", async (_who, requestContext, headers, status, code) => {
    const response = await submit(requestContext, headers as Record<string, string>);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code } });
  });

  it("a monitor without a team may ask whether it is well", async () => {
    const response = await app.request("/api/v1/health", {}, { event: { requestContext: { identity: {} } } } as never);
    expect(response.status).toBe(200);
  });

  it("takes no name for a team that is none", async () => {
    const open = createApp(platform);
    const response = await open.request("/api/v1/models", { headers: { "x-ringmaster-team": "../audio" } });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "INVALID_INPUT" } });
  });
});
