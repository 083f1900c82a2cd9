import { runCli } from "../support/cli";
import { startServer } from "../support/web-server";

it("runs list: says how to go on, goes on there, and leaves it to the API to judge the limit", async () => {
  const requested: string[] = [];
  const server = await startServer((request, response) => {
    requested.push(request.url ?? "");
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ runs: [], ...(requested.length === 1 && { nextToken: "page-2" }) }));
  });
  const list = async (...args: readonly string[]): Promise<string> =>
    (await runCli(["--api", server.endpoint, "runs", "list", ...args])).out;
  try {
    expect(await list("--limit", "abc")).toContain("next page: ringmaster runs list --limit abc --next-token page-2");
    expect(await list("--next-token", "page-2")).not.toContain("next page");
    expect(requested).toEqual(["/api/v1/training-runs?limit=abc", "/api/v1/training-runs?limit=20&nextToken=page-2"]);
    expect(await list()).toBe("no training runs; `ringmaster runs search` lists logged runs\n");
  } finally {
    await server.close();
  }
});
