import { createApp } from "../../api/app";
import { createTestPlatform, type Embedded, startEmbedded } from "../support/embedded";
import { registerTestDataset } from "../support/fixtures";
import { allRows } from "../support/rows";
import { cases, furnish, nothingLike, pathOf, type Things } from "./tenancy-cases";

describe("no call crosses a team", () => {
  let embedded: Embedded;
  let app: ReturnType<typeof createApp>;
  let things: Things;
  let nothing: Things;
  /** All rows after the last call, if it was refused. */
  let rows: Awaited<ReturnType<typeof allRows>> | undefined;
  beforeAll(async () => {
    embedded = await startEmbedded();
    const { platform } = createTestPlatform(embedded);
    app = createApp(platform);
    things = await furnish(platform.forTeam("red"));
    nothing = nothingLike(things);
  });
  afterAll(() => embedded.stop());

  async function call(team: string, route: string, of: Things) {
    const [method] = route.split(" ");
    const body = cases[route]!.body?.(of);
    const response = await app.request(pathOf(route, of), {
      method,
      headers: { "content-type": "application/json", "x-ringmaster-team": team },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    return { status: response.status, body: isJson ? JSON.parse(text) : { text } };
  }

  /** A refusal without what differs by nature: the names that were requested, and the request's id. */
  const comparable = ({ status, body }: { status: number; body: { error: object } }, names: Things) => {
    const error = JSON.stringify({ ...body.error, requestId: undefined });
    const { runId, experimentId, dataset, model, content, rule, monitor, study, view, report } = names;
    return [
      status,
      [runId, `"${experimentId}"`, dataset, model, content, rule, monitor, study, view, report]
        .flatMap((name) => [JSON.stringify(name).slice(1, -1), name])
        .reduce((text, name) => text.replaceAll(name, "…"), error),
    ];
  };

  it("has a case for every route, and no case for none", () => {
    const routes = createApp(createTestPlatform(embedded).platform)
      // MLflow's protocol has a table of its own.
      .routes.filter(({ method, path }) => method !== "ALL" && path.startsWith("/api/v1/"))
      .map(({ method, path }) => `${method} ${path}`);
    expect(Object.keys(cases).sort()).toEqual([...new Set(routes)].sort());
  });

  describe.each(Object.keys(cases))("%s", (route) => {
    const { other } = cases[route]!;

    it("is closed to another team", async () => {
      const before = rows ?? (await allRows(embedded));
      const answer = await call("blue", route, things);
      rows = answer.status >= 400 ? await allRows(embedded) : undefined;
      if (rows !== undefined) expect(rows).toEqual(before);
      if (other === "absent") {
        expect(answer.status).toBe(404);
        expect(comparable(answer, things)).toEqual(comparable(await call("blue", route, nothing), nothing));
      } else if (typeof other === "object") {
        expect(answer.body.error.code).toBe(other.refused);
        expect(answer.status).toBeLessThan(500);
      } else {
        expect([200, 201]).toContain(answer.status);
        other(answer.body as never, things);
      }
    });
  });

  describe.each(Object.keys(cases))("%s", (route) => {
    const { owner } = cases[route]!;

    it("is open to the owner's", async () => {
      const { status, body } = await call("red", route, things);
      // A request that its owner may send is refused to the owner only for another reason.
      if (typeof owner === "number")
        expect([status, body.error && status >= 400]).toEqual([owner, owner >= 400 || undefined]);
      else owner(body as never);
    });
  });

  it.each(["/training-runs", "/datasets"])("%s: a page token of one team opens nothing to another", async (path) => {
    const list = (team: string, query: string) =>
      app.request(`/api/v1${path}?limit=1${query}`, { headers: { "x-ringmaster-team": team } });
    const platform = createTestPlatform(embedded).platform.forTeam("red");
    await registerTestDataset(platform, "second-dataset");
    const { nextToken } = (await (await list("red", "")).json()) as { nextToken: string };
    expect(nextToken).toEqual(expect.any(String));
    const answer = await list("blue", `&nextToken=${nextToken}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code: "INVALID_INPUT" } });
  });

  it("the other team's calls have changed nothing and left nothing", async () => {
    for (const [route, { owner, other }] of Object.entries(cases)) {
      if (typeof owner !== "function" || typeof other !== "function" || !route.startsWith("GET")) continue;
      other((await call("blue", route, things)).body as never, things);
    }
  });
});

describe("who a call is for", () => {
  const directory = [
    { name: "vision", principals: ["arn:aws:iam::1:role/vision-*"], groups: ["vision", "both"] },
    { name: "audio", principals: [], groups: ["both"] },
  ];
  let embedded: Embedded;
  let app: ReturnType<typeof createApp>;
  beforeAll(async () => {
    embedded = await startEmbedded();
    app = createApp(createTestPlatform(embedded).platform, { directory });
  });
  afterAll(() => embedded.stop());

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
    const open = createApp(createTestPlatform(embedded).platform);
    const response = await open.request("/api/v1/models", { headers: { "x-ringmaster-team": "../audio" } });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "INVALID_INPUT" } });
  });
});
