import http from "node:http";
import type { AddressInfo } from "node:net";
import { type Fetch, type SpotNotice, watchSpot } from "../../../trainer-container/host/spot-watcher";

describe("watchSpot", () => {
  let stop: () => void = () => undefined;
  afterEach(() => stop());

  it("asks by IMDSv2 and tells the notice once", async () => {
    let looks = 0;
    const server = http.createServer((request, response) => {
      if (request.method === "PUT" && request.url === "/latest/api/token") {
        expect(request.headers["x-aws-ec2-metadata-token-ttl-seconds"]).toBe("21600");
        response.end("secret");
        return;
      }
      expect(request.url).toBe("/latest/meta-data/spot/instance-action");
      expect(request.headers["x-aws-ec2-metadata-token"]).toBe("secret");
      looks += 1;
      if (looks < 3) response.writeHead(404).end();
      else response.end('{"action":"terminate","time":"2026-01-01T00:02:00Z"}');
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const notice = await new Promise<SpotNotice>((resolve) => {
      const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      ({ stop } = watchSpot({ endpoint, fetch, onNotice: resolve, intervalMs: 1 }));
    });
    expect(notice).toEqual({ action: "terminate", time: "2026-01-01T00:02:00Z" });
    expect(looks).toBe(3);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  /** Gives the answers in turn, and repeats the last one. Resolves `requested` after that many requests. */
  function scripted(answers: readonly (number | Error)[], enough: number) {
    const requests: string[] = [];
    let finish: () => void = () => undefined;
    const requested = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const fake: Fetch = async (url, { method }) => {
      requests.push(`${method} ${url.split("/").at(-1)}`);
      if (requests.length === enough) finish();
      const answer = answers[Math.min(requests.length - 1, answers.length - 1)]!;
      if (answer instanceof Error) throw answer;
      return { status: answer, text: async () => "token" };
    };
    return { requests, requested, fake };
  }

  it("gets a new token where the old one has expired", async () => {
    const { requests, requested, fake } = scripted([200, 401, 200, 404], 4);
    ({ stop } = watchSpot({ endpoint: "http://x", fetch: fake, onNotice: () => undefined, intervalMs: 1 }));
    await requested;
    expect(requests).toEqual(["PUT token", "GET instance-action", "PUT token", "GET instance-action"]);
  });

  it("stops quietly where there is no metadata service", async () => {
    const { requests, requested, fake } = scripted([new Error("unreachable")], 3);
    ({ stop } = watchSpot({ endpoint: "http://x", fetch: fake, onNotice: () => undefined, intervalMs: 1 }));
    await requested;
    for (let i = 0; i < 5; i += 1) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(requests).toHaveLength(3);
  });

  it("goes on through an outage of a service that has answered before", async () => {
    const down = new Error("down");
    const { requested, fake } = scripted([200, 404, down, down, down, down, down, 404], 9);
    ({ stop } = watchSpot({ endpoint: "http://x", fetch: fake, onNotice: () => undefined, intervalMs: 1 }));
    await requested;
  });
});
