import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { createApiServer } from "../../../local/api-server";

describe("the API's door", () => {
  const server = createApiServer(async ({ path }) => ({ statusCode: 200, body: path }));
  let port: number;
  beforeAll(async () => {
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });

  function ask(path: string, headers: Record<string, string> = {}): Promise<{ status: number; body: string }> {
    return new Promise((answered, failed) => {
      http
        .get(
          { port, host: "127.0.0.1", path, headers: { host: `127.0.0.1:${port}`, ...headers } },
          async (response) => {
            let body = "";
            for await (const chunk of response) body += chunk;
            answered({ status: response.statusCode ?? 0, body });
          },
        )
        .on("error", failed);
    });
  }

  it.each([
    ["its own page", { origin: "http://localhost:4700" }, 200],
    ["no page", {}, 200],
    ["another site's page", { origin: "http://evil.example" }, 403],
    ["a page without an origin, such as a local file", { origin: "null" }, 403],
    ["an origin that is no URL", { origin: "::::" }, 403],
    ["a name that was made to resolve here", { host: "evil.example" }, 403],
    ["a name with a user before it", { host: "127.0.0.1:99@evil.example" }, 403],
  ])("answers %s (%j) with %i", async (_who, headers, status) => {
    expect((await ask("/api/v1/health", headers as Record<string, string>)).status).toBe(status);
  });

  it.each(["http://[bad/", "//"])("refuses the path %s and goes on", async (path) => {
    expect(await ask(path)).toMatchObject({ status: 400, body: expect.stringContaining("BAD_REQUEST") });
    expect((await ask("/api/v1/health")).status).toBe(200);
  });
});
