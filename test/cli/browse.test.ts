import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createBrowseServer } from "../../cli/commands/pages";

const secret = "0123456789abcdef0123456789abcdef";
const requested: string[] = [];
let server: Server;
let base: string;
beforeAll(async () => {
  const send = async (
    path: string,
    headers: Readonly<Record<string, string>> = {},
    method = "GET",
  ): Promise<Response> => {
    requested.push(
      [...(method === "GET" ? [] : [method]), path, headers["accept"], headers["sec-fetch-site"]]
        .filter(Boolean)
        .join(" "),
    );
    if (path.includes("unreachable")) throw new Error("no API answers");
    if (path.includes("artifact")) return new Response(null, { status: 307, headers: { location: "http://store/x" } });
    return new Response("<!doctype html>", {
      status: path.includes("nobody") ? 404 : 200,
      headers: { "content-type": "text/html", "content-security-policy": "sandbox", "set-cookie": "a=b" },
    });
  };
  server = createBrowseServer(send, secret).listen(0, "127.0.0.1");
  await once(server, "listening");
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
beforeEach(() => {
  requested.length = 0;
});

const open = (path: string, init: RequestInit = {}) =>
  fetch(base + path, { redirect: "manual", headers: { accept: "text/html" }, ...init });

describe("ringmaster browse", () => {
  it.each(["/", "/api/v1/pages/experiments", "/api/v1/pages/runs/run-1?links=true", "/api/v1/docs"])(
    "shows %s to who knows the address",
    async (path) => {
      const response = await open(`/${secret}${path}`);
      expect([response.status, await response.text()]).toEqual([200, "<!doctype html>"]);
      expect(response.headers.get("content-security-policy")).toBe("sandbox");
      expect(response.headers.get("set-cookie")).toBeNull();
      expect(requested).toEqual([`${path} text/html`]);
    },
  );

  it.each(["/", "/api/v1/pages/experiments", `/x${secret}/api/v1/pages/experiments`, `/${secret}`, `/${secret}x/`])(
    "shows %s to nobody",
    async (path) => {
      expect((await open(path)).status).toBe(404);
      expect(requested).toEqual([]);
    },
  );

  it.each([
    "/api/v1/runs/run-1",
    "/api/2.0/mlflow/runs/get",
    "/api/v1/pages/..%2fruns",
    "/api/v1/pages/%2e%2e/runs",
    "/x",
  ])("asks for %s with nobody's credentials", async (path) => {
    const status = (await open(`/${secret}${path}`)).status;
    // The API itself refuses these paths, which have an encoded separator in one part.
    if (path.includes("..%2f")) expect(requested.every((one) => one.startsWith("/api/v1/pages/"))).toBe(true);
    else expect([status, requested]).toEqual([404, []]);
  });

  it.each([
    ["POST", "/api/v1/pages/experiments"],
    ["POST", "/api/v1/pages/runs/run-1"],
    ["PUT", "/api/v1/pages/runs/run-1/register"],
  ])("does not forward %s %s", async (method, path) => {
    expect((await open(`/${secret}${path}`, { method })).status).toBe(404);
    expect(requested).toEqual([]);
  });

  it("forwards the form that registers a run, with what the browser says of its sender", async () => {
    const headers = { accept: "text/html", "sec-fetch-site": "cross-site" };
    await open(`/${secret}/api/v1/pages/runs/run-1/register?as=m`, { method: "POST", headers });
    expect(requested).toEqual(["POST /api/v1/pages/runs/run-1/register?as=m text/html cross-site"]);
  });

  it("hands on where a file lies, what is missing, and that nobody answers", async () => {
    const file = await open(`/${secret}/api/v1/pages/runs/r/artifact?path=a`);
    expect([file.status, file.headers.get("location")]).toEqual([307, "http://store/x"]);
    expect((await open(`/${secret}/api/v1/pages/runs/nobody`)).status).toBe(404);
    const response = await open(`/${secret}/api/v1/pages/runs/unreachable`);
    expect([response.status, await response.text()]).toEqual([502, "no API answers\n"]);
  });
});
