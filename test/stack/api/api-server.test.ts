import * as http from "node:http";
import { createTokenStore } from "../../../adapters/files/token-store";
import { makeToken } from "../../../core/access/tokens";
import { createApiServer } from "../../../stack/api-server";
import { temporaryFolder } from "../../support/temporary-folder";
import { tokenTerms } from "../../support/token-terms";
import { startServer } from "../../support/web-server";

describe("the API's server", () => {
  const data = temporaryFolder("api-server");
  const tokens = createTokenStore(data);
  const server = createApiServer(
    async ({ requestContext }) => ({ statusCode: 200, body: JSON.stringify(requestContext.authorizer ?? {}) }),
    tokens,
    { now: () => now },
  );
  let now = Date.parse("2026-01-02T00:00:00.000Z");
  let port: number;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ port, close } = await startServer(server));
  });
  afterAll(() => close());

  function ask(
    path: string,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: string; challenge?: string; length?: string }> {
    return new Promise((answered, failed) => {
      http
        .get(
          { port, host: "127.0.0.1", path, headers: { host: `127.0.0.1:${port}`, ...headers } },
          async (response) => {
            let body = "";
            for await (const chunk of response) body += chunk;
            answered({
              status: response.statusCode ?? 0,
              body,
              challenge: response.headers["www-authenticate"]?.split(" ")[0],
              length: response.headers["content-length"],
            });
          },
        )
        .on("error", failed);
    });
  }

  it.each([
    ["its own page", { origin: "http://127.0.0.1:PORT", "sec-fetch-site": "same-origin" }, 200],
    ["its own page by the other name", { host: "localhost:PORT", origin: "http://localhost:PORT" }, 200],
    ["no page", {}, 200],
    ["a page of another port", { origin: "http://127.0.0.1:4700" }, 403],
    ["its own page under another name", { origin: "http://localhost:PORT" }, 403],
    ["an image in a page of another port", { "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" }, 403],
    ["a script in another site's page", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }, 403],
    [
      "a frame in another site's page",
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" },
      403,
    ],
    [
      "a link in another site's page",
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" },
      200,
    ],
    ["another port's number", { host: "127.0.0.1:1" }, 403],
    ["another site's page", { origin: "http://evil.example" }, 403],
    ["a page without an origin, such as a local file", { origin: "null" }, 403],
    ["an origin that is no URL", { origin: "::::" }, 403],
    ["a name that was made to resolve here", { host: "evil.example" }, 403],
    ["a name with a user before it", { host: "127.0.0.1:99@evil.example" }, 403],
  ])("answers %s (%j) with %i", async (_who, headers, status) => {
    const sent = Object.entries(headers).map(([name, value]) => [name, value.replace("PORT", String(port))] as const);
    expect((await ask("/api/v1/health", Object.fromEntries(sent))).status).toBe(status);
  });

  it.each(["http://[bad/", "//"])("refuses the path %s and continues to serve", async (path) => {
    expect(await ask(path)).toMatchObject({ status: 400, body: expect.stringContaining("BAD_REQUEST") });
    expect((await ask("/api/v1/health")).status).toBe(200);
  });

  it("states the length of an answer", async () => {
    const { length, body } = await ask("/api/v1/models", { "x-ringmaster-actor": "ünï" });
    expect(length).toBe(String(Buffer.byteLength(body)));
  });

  it("without tokens accepts the caller's name and team", async () => {
    const said = { "x-ringmaster-actor": "ann", "x-ringmaster-team": "vision" };
    expect(JSON.parse((await ask("/api/v1/models", said)).body)).toEqual({ principalId: "ann", team: "vision" });
    expect(JSON.parse((await ask("/api/v1/models")).body)).toEqual({ principalId: "anonymous", team: "default" });
  });

  describe("once there is a token", () => {
    const owner = { ...tokenTerms, team: "vision", actor: "ann", createdAt: "2026-01-01T00:00:00.000Z" };
    const { token, record } = makeToken(
      owner,
      Uint8Array.from({ length: 38 }, (_, i) => i),
    );
    const other = makeToken(
      owner,
      Uint8Array.from({ length: 38 }, (_, i) => i + 1),
    ).token;
    const basic = Buffer.from(`anyone:${token}`).toString("base64");
    beforeAll(() => tokens.add(record));

    it.each([
      ["none", {}],
      ["one that was never made", { authorization: `Bearer ${other}` }],
      ["something else", { authorization: "Bearer x" }],
      ["another scheme", { authorization: `AWS4-HMAC-SHA256 Credential=${token}` }],
    ])("refuses a call with %s: 401, and what to do", async (_what, headers) => {
      const { status, body } = await ask("/api/v1/models", headers as Record<string, string>);
      expect([status, JSON.parse(body).error.code]).toEqual([401, "UNAUTHENTICATED"]);
      expect(body).toContain("ringmaster tokens create");
    });

    it.each([
      ["a browser that opens a page", "text/html,application/xhtml+xml;q=0.9", "Basic"],
      ["a program", "application/json", "Bearer"],
      ["who does not say", undefined, "Bearer"],
    ])("asks %s in its own way", async (_who, accept, challenge) => {
      const answer = await ask("/api/v1/pages/experiments", accept === undefined ? {} : { accept });
      expect([answer.status, answer.challenge]).toEqual([401, challenge]);
    });

    it.each([`Bearer ${token}`, `bearer ${token}`, `Basic ${basic}`])(
      "knows who calls by %s",
      async (authorization) => {
        const lie = { "x-ringmaster-actor": "mallory", "x-ringmaster-team": "audio" };
        const { status, body } = await ask("/api/v1/models", { authorization, ...lie });
        const terms = { scopes: owner.scopes.join(" "), exp: String(Date.parse(owner.expiresAt) / 1_000) };
        const known = { principalId: "ann", team: "vision", person: "token:ann", ...terms };
        expect([status, JSON.parse(body)]).toEqual([200, known]);
      },
    );

    it("passes on the scopes of a token until it expires", async () => {
      const limits = { expiresAt: "2026-01-03T00:00:00.000Z", scopes: ["read"] } as const;
      const limited = makeToken(
        { ...owner, ...limits },
        Uint8Array.from({ length: 38 }, (_, i) => i + 2),
      );
      await tokens.add(limited.record);
      const headers = { authorization: `Bearer ${limited.token}` };
      const { status, body } = await ask("/api/v1/models", headers);
      expect([status, JSON.parse(body)]).toMatchObject([200, { scopes: "read", exp: "1767398400" }]);
      now = Date.parse(limits.expiresAt);
      const { status: later, body: refusal } = await ask("/api/v1/models", headers);
      expect([later, JSON.parse(refusal).error.message]).toEqual([
        401,
        expect.stringContaining(`token ${limited.record.id} of ann expired at ${limits.expiresAt}`),
      ]);
      now -= 86_400_000;
    });

    it("still reports its health", async () => {
      expect((await ask("/api/v1/health")).status).toBe(200);
    });
  });
});
