import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as path from "node:path";
import { promisify } from "node:util";

const cli = path.resolve(__dirname, "..", "..", "bin", "ringmaster.js");

it("runs list: says how to go on, goes on there, and leaves it to the API to judge the limit", async () => {
  const requested: string[] = [];
  const server = createServer((request, response) => {
    requested.push(request.url ?? "");
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ runs: [], ...(requested.length === 1 && { nextToken: "page-2" }) }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const list = async (...args: readonly string[]): Promise<string> =>
    (await promisify(execFile)(process.execPath, [cli, "--api", api, "runs", "list", ...args])).stdout;
  try {
    expect(await list("--limit", "abc")).toContain("next page: ringmaster runs list --limit abc --next-token page-2");
    expect(await list("--next-token", "page-2")).not.toContain("next page");
    expect(requested).toEqual(["/api/v1/training-runs?limit=abc", "/api/v1/training-runs?limit=20&nextToken=page-2"]);
    expect(await list()).toBe("no training runs; `ringmaster runs search` lists logged runs\n");
  } finally {
    server.close();
  }
});
