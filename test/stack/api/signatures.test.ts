import { createHash, createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import * as http from "node:http";
import { join } from "node:path";
import { Sha256 } from "@smithy/core/checksum";
import { SignatureV4 } from "@smithy/signature-v4";
import type { HttpRequest } from "@smithy/types";
import { ownerKeys } from "../../../adapters/files/owner-keys";
import { createTokenStore, type SigningKeys, signingKeys } from "../../../adapters/files/token-store";
import { makeToken } from "../../../core/access/tokens";
import { createApiServer } from "../../../stack/api-server";
import { temporaryFolder } from "../../support/temporary-folder";
import { tokenTerms } from "../../support/token-terms";
import { startServer, type WebServer } from "../../support/web-server";

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | string[]>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

const now = Date.parse("2026-03-04T05:06:07Z");
const minute = 60_000;
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

describe("signatures of version 4", () => {
  const data = temporaryFolder("signatures");
  const tokens = createTokenStore(data);
  const { record } = makeToken(
    { ...tokenTerms, team: "vision", actor: "ann", createdAt: "2026-01-01T00:00:00.000Z" },
    Uint8Array.from({ length: 38 }, (_, i) => i),
  );
  const terms = { scopes: record.scopes.join(" "), exp: String(Date.parse(record.expiresAt) / 1_000) };
  const server = createApiServer(
    async ({ requestContext, body, isBase64Encoded }) => ({
      statusCode: 200,
      body: JSON.stringify({
        ...requestContext.authorizer,
        body: Buffer.from(body ?? "", isBase64Encoded ? "base64" : "utf8").toString(),
      }),
    }),
    tokens,
    { now: () => now },
  );
  let running: WebServer;
  let host: string;
  let keys: SigningKeys;
  beforeAll(async () => {
    await tokens.add(record);
    keys = (await signingKeys(tokens, record.id))!;
    running = await startServer(server);
    host = `127.0.0.1:${running.port}`;
  });
  afterAll(() => running.close());

  function send(url: string, { method, headers, body }: Omit<Sent, "path">): Promise<{ status: number; body: string }> {
    return new Promise((answered, failed) => {
      const { hostname, port } = new URL(`http://${host}`);
      const request = http.request({ hostname, port, path: url, method, headers }, async (response) => {
        let text = "";
        for await (const chunk of response) text += chunk;
        answered({ status: response.statusCode ?? 0, body: text });
      });
      request.on("error", failed);
      request.end(body);
    });
  }

  async function bySdk(
    sent: Sent,
    given: Partial<SigningKeys & { readonly at: number; readonly service: string }> = {},
  ) {
    const signer = new SignatureV4({
      credentials: { ...keys, ...given },
      region: "eu-central-1",
      service: given.service ?? "execute-api",
      sha256: Sha256,
    });
    const { headers } = await signer.sign(
      {
        ...sent,
        protocol: "http:",
        hostname: "127.0.0.1",
        query: sent.query ?? {},
        headers: { host, ...sent.headers },
      } as unknown as HttpRequest,
      { signingDate: new Date(given.at ?? now) },
    );
    const query = Object.entries(sent.query ?? {}).flatMap(([name, values]) =>
      [values].flat().map((value) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`),
    );
    return send(`${sent.path}${query.length > 0 ? `?${query.join("&")}` : ""}`, { ...sent, headers });
  }

  /**
   * Sends a request signed like requests-auth-aws-sigv4 0.7, which MLflow's clients use: the host without its port, and
   * path and query as on the wire.
   */
  function byRequests(method: string, url: string, body: string, signed = body) {
    const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
    const [path, query = ""] = url.split("?") as [string, string | undefined];
    const headers = {
      host: "127.0.0.1",
      "x-amz-content-sha256": sha256(signed),
      "x-amz-date": "20260304T050607Z",
    };
    const names = Object.keys(headers).sort();
    const scope = "20260304/us-east-1/execute-api/aws4_request";
    const canonical = [
      method,
      path,
      query.split("&").sort().join("&"),
      ...names.map((name) => `${name}:${headers[name as keyof typeof headers]}`),
      "",
      names.join(";"),
      sha256(signed),
    ].join("\n");
    const key = scope.split("/").reduce<string | Buffer>(hmac, `AWS4${keys.secretAccessKey}`);
    const signature = hmac(key, ["AWS4-HMAC-SHA256", "20260304T050607Z", scope, sha256(canonical)].join("\n"));
    const authorization = `AWS4-HMAC-SHA256 Credential=${keys.accessKeyId}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature.toString("hex")}`;
    return send(url, { method, headers: { ...headers, authorization }, body });
  }

  const get: Sent = { method: "GET", path: "/api/v1/models", headers: {} };
  const post: Sent = {
    method: "POST",
    path: "/api/2.0/mlflow/runs/create",
    headers: { "content-type": "application/json" },
    body: '{"experiment_id":"0"}',
  };

  it.each<[string, Sent]>([
    ["a read", get],
    ["a query, to be sorted and encoded", { ...get, query: { b: "x y", a: "1", "c&": "ü=*'" } }],
    ["a name given twice", { ...get, query: { run_ids: ["b", "a"] } }],
    ["a body", post],
    ["a path that is encoded", { ...get, path: "/api/v1/models/a%20b%C3%BC/versions" }],
  ])("knows who signed %s", async (_what, sent) => {
    const { status, body } = await bySdk(sent);
    expect([status, JSON.parse(body)]).toEqual([
      200,
      { principalId: "ann", team: "vision", person: "token:ann", ...terms, body: sent.body ?? "" },
    ]);
  });

  it.each([
    [1, 200, '"scopes":"read"'],
    [0, 401, "of ben expired at"],
  ])("has the scopes and the expiry of its token, which ends in %i minutes: %i", async (minutes, status, expected) => {
    const limits = { expiresAt: new Date(now + minutes * minute).toISOString(), scopes: ["read"] as const };
    const { record: limited } = makeToken(
      { team: "vision", actor: "ben", createdAt: "2026-01-01T00:00:00.000Z", ...limits },
      Uint8Array.from({ length: 38 }, (_, i) => i + 100 + minutes),
    );
    await tokens.add(limited);
    const answer = await bySdk(get, await signingKeys(tokens, limited.id));
    await tokens.revoke(limited.id);
    expect(answer).toEqual({ status, body: expect.stringContaining(expected) });
  });

  it.each([
    ["GET", "/api/2.0/mlflow/runs/get?run_id=7&filter=a+b%3D%27c%27", ""],
    ["POST", "/api/2.0/mlflow/runs/search", '{"filter":"a = \'ü\'"}'],
    ["PATCH", "/api/2.0/mlflow/registered-models/update", "{}"],
    ["GET", "/api/2.0/mlflow-artifacts/presigned/0/a%20b.txt", ""],
  ])("knows who signed %s %s with what MLflow's clients sign with", async (method, url, body) => {
    expect(await byRequests(method, url, body)).toEqual({
      status: 200,
      body: JSON.stringify({ principalId: "ann", team: "vision", person: "token:ann", ...terms, body }),
    });
  });

  it.each([
    ["4 minutes early", 4 * minute, 200],
    ["4 minutes late", -4 * minute, 200],
    ["6 minutes early", 6 * minute, 401],
    ["6 minutes late", -6 * minute, 401],
    ["a day late", -1440 * minute, 401],
  ])("%s: %i", async (_when, offset, status) => {
    expect((await bySdk(get, { at: now + offset })).status).toBe(status);
  });

  it.each<[string, () => Promise<{ status: number; body: string }>]>([
    ["another's secret", () => bySdk(get, { secretAccessKey: "x" })],
    ["the token's own secret part", () => bySdk(get, { secretAccessKey: record.sha256 })],
    ["a key that was never given out", () => bySdk(get, { accessKeyId: "rmt-ffffffffffff" })],
    ["the stack's own keys", () => bySdk(get, ownerKeys(data))],
    ["another service's signature", () => bySdk(get, { service: "s3" })],
    ["another body", () => byRequests("POST", post.path, "{}", "[]")],
    [
      "no signature in it",
      () => send(get.path, { ...get, headers: { host, authorization: "AWS4-HMAC-SHA256 Credential=a/b" } }),
    ],
  ])("refuses %s", async (_what, call) => {
    const { status, body } = await call();
    expect(status).toBe(401);
    expect(body).toContain("UNAUTHENTICATED");
    expect(body).not.toContain(keys.secretAccessKey);
  });

  it("is answered in the client's error format", async () => {
    const { body } = await bySdk(post, { secretAccessKey: "x" });
    expect(JSON.parse(body)).toEqual({
      error_code: "UNAUTHENTICATED",
      message: expect.stringContaining("tokens keys"),
    });
  });

  it("is refused after the token is revoked; its keys are in no file", async () => {
    const other = makeToken({ ...tokenTerms, team: "audio", actor: "bob", createdAt: "" }, new Uint8Array(38));
    await tokens.add(other.record);
    const pair = (await signingKeys(tokens, other.record.id))!;
    expect((await bySdk(get, pair)).status).toBe(200);
    expect(pair.secretAccessKey).not.toBe(keys.secretAccessKey);
    expect(await signingKeys(createTokenStore(data), other.record.id)).toEqual(pair);
    for (const file of [`${other.record.id}.json`, "signing-secret"]) {
      expect(readFileSync(join(data, "tokens", file)).toString("latin1")).not.toContain(pair.secretAccessKey);
    }
    await tokens.revoke(other.record.id);
    expect((await bySdk(get, pair)).status).toBe(401);
    expect(await tokens.list()).toEqual([record]);
  });
});
