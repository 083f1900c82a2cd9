import { eventStream } from "../../api/routes/run-metrics";
import { createLogger } from "../../core/logging";
import type { FollowEvent } from "../../core/tracking/follow";
import { useTestApp } from "../support/app";
import { runOf } from "../support/fixtures";

interface Event {
  readonly id?: string;
  readonly event: string;
  readonly data: {
    readonly status?: string;
    readonly metrics?: readonly { metric: string; points: { step: number }[] }[];
  };
}

/** Parses a text like an `EventSource`. */
const parse = (text: string): Event[] =>
  text
    .split("\n\n")
    .map((block) =>
      Object.fromEntries(block.split("\n").map((line) => [line.split(": ")[0], line.slice(line.indexOf(": ") + 2)])),
    )
    .filter((fields) => fields["event"] !== undefined)
    .map((fields) => ({ id: fields["id"], event: fields["event"]!, data: JSON.parse(fields["data"]!) }));

describe("a run's metrics as events", () => {
  const { platform, app } = useTestApp();
  beforeAll(async () => {
    await platform.runs.create(runOf("run-e"));
    await platform.metrics.append("run-e", [{ metric: "loss", steps: [1, 2], values: [2, Number.NaN], times: [1, 2] }]);
    await platform.runs.close("run-e", { status: "completed", at: "2025-12-31T00:00:00.000Z" });
  });

  const follow = (headers: Record<string, string> = {}, path = "/api/v1/training-runs/run-e/metrics") =>
    app.request(path, { headers: { accept: "text/event-stream", ...headers } });

  it("tells everything and ends with the run", async () => {
    const response = await follow();
    expect(response.headers.get("content-type")).toMatch("text/event-stream");
    expect(response.headers.get("cache-control")).toMatch("no-cache");
    const text = await response.text();
    expect(text).toMatch(/^retry: 2000\n\n/);
    expect(parse(text)).toMatchObject([
      { event: "run", data: { status: "completed" } },
      {
        event: "metrics",
        data: {
          metrics: [
            {
              metric: "loss",
              points: [
                { step: 1, value: 2 },
                { step: 2, value: "NaN" },
              ],
            },
          ],
        },
      },
      { event: "end", data: { status: "completed" } },
    ]);
  });

  it("goes on after the last id, and says when there is nothing to come again for", async () => {
    const [, metrics, end] = parse(await (await follow()).text());
    const rest = parse(await (await follow({ "last-event-id": metrics!.id! })).text());
    expect(rest.map(({ event }) => event)).toEqual(["run", "end"]);
    const after = await follow({ "last-event-id": end!.id! });
    expect([after.status, await after.text()]).toEqual([204, ""]);
  });

  it.each([
    ["an id that was never sent", { "last-event-id": "x" }, undefined, 400, "INVALID_INPUT"],
    ["a run that is not there", {}, "/api/v1/training-runs/run-none/metrics", 404, "RUN_NOT_FOUND"],
    ["another team's run", { "x-ringmaster-team": "blue" }, undefined, 404, "RUN_NOT_FOUND"],
  ])("refuses before the stream begins: %s", async (_what, headers, path, status, code) => {
    const response = await follow(headers as Record<string, string>, path);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code } });
  });

  it.each(["*/*", "application/json", ""])("is JSON for who accepts %j", async (accept) => {
    const response = await follow({ accept });
    expect(await response.json()).toMatchObject({ metrics: [{ metric: "loss", lastStep: 2 }] });
  });
});

describe("an event stream", () => {
  const logged: string[] = [];
  const logger = createLogger((line) => logged.push(line), { now: () => 0 });
  const heartbeats = async function* (count: number, requested: { times: number }): AsyncGenerator<FollowEvent> {
    for (let i = 0; i < count; i += 1) {
      requested.times += 1;
      yield { event: "heartbeat" };
    }
  };

  it("asks for the next event when the one before was taken", async () => {
    const requested = { times: 0 };
    const reader = eventStream(logger, () => heartbeats(10, requested)).body!.getReader();
    await reader.read(); // how to come again
    expect(requested.times).toBe(0);
    await reader.read();
    expect(requested.times).toBe(1);
    await reader.cancel();
  });

  it("wakes who sleeps when the follower goes", async () => {
    const story: string[] = [];
    let fallAsleep: () => void = () => undefined;
    const asleep = new Promise<void>((resolve) => {
      fallAsleep = resolve;
    });
    const response = eventStream(logger, async function* ({ isGone, sleep }) {
      yield { event: "heartbeat" };
      fallAsleep();
      await sleep(3_600_000);
      story.push(isGone() ? "woken" : "slept through");
    });
    const reader = response.body!.getReader();
    await reader.read();
    await reader.read();
    void reader.read();
    await asleep;
    await reader.cancel();
    expect(story).toEqual(["woken"]);
  });

  it("that breaks off ends, and the log says why", async () => {
    const response = eventStream(logger, async function* () {
      yield { event: "heartbeat" };
      throw new Error("the store is away");
    });
    expect(await response.text()).toBe("retry: 2000\n\n: heartbeat\n\n");
    expect(logged.join()).toContain("the store is away");
  });
});
