import { deflateRawSync } from "node:zlib";
import { eventText } from "../../../api/routes/run-metrics";
import { InvalidInputError } from "../../../core/errors";
import type { Run } from "../../../core/runs/shapes";
import {
  beginning,
  decodeCursor,
  encodeCursor,
  type FollowEvent,
  type FollowOptions,
  followRun,
} from "../../../core/tracking/follow";
import type { MetricPoint, SeriesPosition } from "../../../core/tracking/metric-store";
import { runOf } from "../../support/fixtures";

const encodeCursorOf = (text: string): string => deflateRawSync(text).toString("base64url");

describe("the id of an event", () => {
  const loss = ["train/loss", { step: 12, item: 3 }] as const;
  it.each([
    ["the beginning", beginning],
    ["some metrics", { positions: new Map([loss, ["a", { step: -1, item: 0 }]]), ended: false }],
    ["the end", { positions: new Map(), ended: true }],
  ])("is %s, again", (_what, cursor) => {
    expect(decodeCursor(encodeCursor(cursor))).toEqual(cursor);
  });

  it("of 64 workers' metrics is still a header", () => {
    const metrics = Array.from({ length: 64 * 6 }, (_, i) => `system/worker-${i >> 3}/metric-number-${i % 8}`);
    const positions = new Map(metrics.map((metric, i) => [metric, { step: 100_000 + (i % 3), item: 99_600 }]));
    expect(encodeCursor({ positions, ended: false }).length).toBeLessThan(2_500);
  });

  it.each([
    ["no id", "%%%"],
    ["an id of another kind", Buffer.from("12").toString("base64url")],
    ["other content", encodeCursorOf('{"at":{"a":[1]}}')],
    ["content that inflates without end", encodeCursorOf(JSON.stringify({ at: { a: "x".repeat(1_000_000) } }))],
  ])("is refused where it is %s", (_what, id) => {
    expect(() => decodeCursor(id)).toThrow(InvalidInputError);
  });
});

const startedAt = Date.parse("2026-01-01T00:00:00.000Z");

/** A run in memory and a clock that only sleeping moves. `at` says what happens at which second. */
class World {
  private time = startedAt;
  private run: Run | undefined = runOf("run-f", { status: "running" });
  private readonly points = new Map<string, MetricPoint[]>();
  private readonly plan: { readonly second: number; readonly change: () => void }[] = [];
  readonly events: FollowEvent[] = [];
  readonly eventTimes: number[] = [];
  looks = 0;
  gone = false;
  /** Points of one answer of the store. */
  pageSize = 3;

  at(second: number, change: () => void): this {
    this.plan.push({ second, change });
    return this;
  }
  write(metric: string, ...steps: number[]): void {
    const known = this.points.get(metric) ?? [];
    this.points.set(metric, [...known, ...steps.map((step) => ({ step, value: step / 2, time: step }))]);
  }
  end(secondsAgo = 0): void {
    const endedAt = new Date(this.time - secondsAgo * 1000).toISOString();
    this.run = { ...this.run!, status: "completed", endedAt };
  }
  lose(): void {
    this.run = undefined;
  }

  async follow(options: Partial<FollowOptions> = {}, most = 100): Promise<FollowEvent[]> {
    const events: FollowEvent[] = [];
    const following = followRun(
      {
        findRun: async () => {
          this.looks += 1;
          return this.run;
        },
        metrics: {
          summaries: async () =>
            [...this.points].map(([metric, points]) => {
              const lastStep = Math.max(...points.map(({ step }) => step));
              return { metric, last: 0, lastStep, lastTime: lastStep, min: 0, max: 0 };
            }),
          readAfter: async (_runId, metric, position) => this.readAfter(metric, position),
        },
        clock: { now: () => this.time },
        sleep: async (ms) => this.pass(ms),
      },
      { runId: "run-f", from: beginning, until: startedAt + 840_000, isGone: () => this.gone, ...options },
    );
    for await (const event of following) {
      events.push(event);
      this.eventTimes.push((this.time - startedAt) / 1000);
      if (events.length === most) break;
    }
    return events;
  }

  private pass(ms: number): void {
    this.time += ms;
    for (const { second, change } of this.plan.splice(0)) {
      if (startedAt + second * 1000 <= this.time) change();
      else this.plan.push({ second, change });
    }
  }

  /** Items of two points, by their first one's step, as a store that packs them would have. */
  private readAfter(metric: string, { step, item }: SeriesPosition) {
    const left = (this.points.get(metric) ?? []).filter((point) => point.step >= item);
    const page = left.slice(0, this.pageSize);
    const points = page.filter((point) => point.step > step);
    const last = page.at(-1)?.step ?? item;
    return { points, position: { step: points.at(-1)?.step ?? step, item: last }, more: left.length > page.length };
  }
}

const stepsIn = (events: readonly FollowEvent[]): Record<string, number[]> => {
  const all: Record<string, number[]> = {};
  for (const event of events) {
    if (event.event !== "metrics") continue;
    for (const { metric, points } of event.data.metrics)
      all[metric] = [...(all[metric] ?? []), ...points.map(({ step }) => step)];
  }
  return all;
};

describe("following a run", () => {
  it("tells what there is, then what comes, then the end", async () => {
    const world = new World();
    world.write("loss", 1, 2);
    world
      .at(1, () => world.write("loss", 3))
      .at(2, () => world.write("accuracy", 3))
      .at(3, () => world.end());
    const events = await world.follow();
    expect(events.map(({ event }) => event)).toEqual(["run", "metrics", "metrics", "metrics", "run", "end"]);
    expect(stepsIn(events)).toEqual({ loss: [1, 2, 3], accuracy: [3] });
    const last = events.at(-1)!;
    expect(last).toMatchObject({ data: { runId: "run-f", status: "completed" } });
    expect("id" in last && decodeCursor(last.id).ended).toBe(true);
  });

  it("waits a little at the end for the trainers' last batches", async () => {
    const world = new World();
    world.at(1, () => world.end()).at(2, () => world.write("loss", 9));
    expect(stepsIn(await world.follow())).toEqual({ loss: [9] });
  });

  it("of a run that ended long ago tells everything at once", async () => {
    const world = new World();
    world.write("loss", 1, 2, 3, 4, 5, 6, 7, 8);
    world.end(60);
    const events = await world.follow();
    expect(stepsIn(events)).toEqual({ loss: [1, 2, 3, 4, 5, 6, 7, 8] });
    expect(events.map(({ event }) => event)).toEqual(["run", "metrics", "end"]);
    expect(world.looks).toBe(1);
  });

  it("goes on after any of its ids, and tells each point once", async () => {
    for (const cut of [1, 2, 3, 4, 5]) {
      const world = new World();
      world.write("loss", 1, 2, 3, 4);
      world.at(1, () => world.write("loss", 5, 6)).at(2, () => world.write("loss", 7));
      world.at(3, () => world.end());
      const first = await world.follow({}, cut);
      const id = first.flatMap((event) => ("id" in event ? [event.id] : [])).at(-1);
      const from = id === undefined ? beginning : decodeCursor(id);
      const rest = from.ended ? [] : await world.follow({ from });
      const both = [...(stepsIn(first)["loss"] ?? []), ...(stepsIn(rest)["loss"] ?? [])];
      expect(both).toEqual([1, 2, 3, 4, 5, 6, 7]);
    }
  });

  it("gives a sign of life at least each 15 seconds, and looks less often while nothing comes", async () => {
    const world = new World();
    const events = await world.follow({}, 20);
    expect(events.slice(1).every(({ event }) => event === "heartbeat")).toBe(true);
    const gaps = world.eventTimes.map((at, i) => at - (world.eventTimes[i - 1] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(15);
    expect(world.looks).toBeLessThan(70);
  });

  it("ends by itself before the gateway would end it, without saying that the run has ended", async () => {
    const world = new World();
    const events = await world.follow({ until: startedAt + 60_000 }, 1_000);
    expect(world.eventTimes.at(-1)).toBeLessThan(60);
    expect(events.map(({ event }) => event)).not.toContain("end");
  });

  it("stops looking when the follower is gone, and when the run is", async () => {
    const world = new World();
    world.at(5, () => {
      world.gone = true;
    });
    await world.follow();
    expect(world.looks).toBeLessThan(7);
    const lost = new World();
    lost.at(2, () => lost.lose());
    expect((await lost.follow()).at(-1)?.event).not.toBe("end");
  });

  it("follows one metric where one is requested", async () => {
    const world = new World();
    world.write("loss", 1);
    world.write("accuracy", 1);
    world.end();
    expect(stepsIn(await world.follow({ metric: "accuracy" }))).toEqual({ accuracy: [1] });
  });

  it("cuts a long history into events", async () => {
    const world = new World();
    world.pageSize = 4_000;
    world.write("loss", ...Array.from({ length: 12_000 }, (_, i) => i));
    world.end();
    const events = (await world.follow()).filter(({ event }) => event === "metrics");
    expect(events).toHaveLength(2);
    expect(stepsIn(events)["loss"]).toHaveLength(12_000);
  });

  it("finds what two leaders' overlapping batches have put before the last item", async () => {
    const world = new World();
    world.write("loss", 1, 2, 3);
    const [, first] = await world.follow({}, 2);
    const from = decodeCursor(first && "id" in first ? first.id : "");
    // As if the store had the item of the last point elsewhere than it said.
    const moved = new Map([["loss", { step: 3, item: 1_000 }]]);
    world.write("loss", 4);
    world.end();
    expect(stepsIn(await world.follow({ from: { ...from, positions: moved } }))).toEqual({ loss: [4] });
  });
});

it("is written as the HTML standard has it", () => {
  const data = { runId: "run-f", status: "running" as const, updatedAt: "t" };
  expect(eventText({ event: "run", data })).toBe(
    'event: run\ndata: {"runId":"run-f","status":"running","updatedAt":"t"}\n\n',
  );
  expect(eventText({ event: "end", id: "x", data })).toMatch(/^id: x\nevent: end\ndata: [^\n]+\n\n$/);
  expect(eventText({ event: "heartbeat" })).toBe(": heartbeat\n\n");
});
