import { deliverEvent, sweepDeliveries } from "../../../core/notifications/deliver";
import type { NotificationRepository } from "../../../core/notifications/ports";
import { type Delivery, eventTypes, type NotableEvent } from "../../../core/notifications/shapes";
import type { TestPlatform as Platform } from "../../support/embedded";
import { type Calls, createTestPlatform, useEmbedded } from "../../support/embedded";

const minute = 60_000;
const url = "https://example.com/hook";

describe("the delivery of an event", () => {
  const embedded = useEmbedded();
  let now = Date.parse("2026-01-01T12:00:00.000Z");
  let platform: Platform;
  let calls: Calls;
  let team = 0;
  beforeEach(async () => {
    now = Date.parse("2026-01-01T12:00:00.000Z");
    const made = createTestPlatform(embedded, { now: () => now });
    calls = made.calls;
    team += 1;
    platform = { ...made.platform.forTeam(`team-${team}`), random: () => 0 };
    await set({});
  });

  const set = (more: object) =>
    platform.notifications.putSettings({
      ...{ url, topic: true, events: eventTypes, keyGeneration: 1, updatedBy: "ada", updatedAt: "" },
      ...more,
    });
  const event = (runId: string, at = "2026-01-01T11:59:00.000Z"): NotableEvent => ({
    ...{ id: `run-ended-${runId}`, type: "run.failed", at, team: platform.team, runId, model: "digits" },
    ...{ experiment: "digits", metrics: {}, durationSeconds: 60, submittedBy: "ada" },
    failure: { code: "USER_CODE", message: "broken" },
  });
  const deliveries = async (): Promise<readonly Delivery[]> => (await platform.notifications.list({ limit: 50 })).items;
  const states = async () => (await deliveries()).map(({ channel, status, attempts }) => [channel, status, attempts]);
  const sweep = (of: Platform = platform) =>
    sweepDeliveries(of.dueDeliveries, {
      forTeam: (name) => (name === platform.team ? of : fail(`swept ${name}`)),
      clock: of.clock,
      until: Number.POSITIVE_INFINITY,
      onDone: () => undefined,
      onError: (_team, _delivery, error) => {
        throw error;
      },
    });

  it("goes through each channel once, however often and however many at once it arrives", async () => {
    await Promise.all(Array.from({ length: 8 }, () => deliverEvent(platform, event("run-1"))));
    await deliverEvent(platform, event("run-1"));
    expect(calls.sent.map(({ to }) => to).sort()).toEqual([platform.topic.arn, url]);
    expect(JSON.parse(calls.sent[0]!.message.body)).toEqual({
      id: "run-ended-run-1",
      type: "run.failed",
      timestamp: "2026-01-01T11:59:00.000Z",
      data: {
        ...{ team: platform.team, runId: "run-1", experiment: "digits", model: "digits", metrics: {} },
        ...{ failure: { code: "USER_CODE", message: "broken" }, durationSeconds: 60, submittedBy: "ada" },
      },
    });
    expect(await states()).toEqual([
      ["webhook", "delivered", 1],
      ["topic", "delivered", 1],
    ]);
  });

  it.each([
    ["of another type", { events: ["run.completed"] }],
    ["of a team that has no channel", { url: undefined, topic: false }],
  ])("is none for an event %s", async (_, more) => {
    await set(more);
    await deliverEvent(platform, event("run-1"));
    expect([calls.sent, await deliveries()]).toEqual([[], []]);
  });

  it("is attempted again after 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, with the same bytes, and then given up", async () => {
    await set({ topic: false });
    calls.accepts = { accepted: false, answer: "it answered with status 503", retryable: true };
    await deliverEvent(platform, event("run-1"));
    for (const minutes of [5, 30, 120, 300, 600, 600]) {
      const before = calls.sent.length;
      now += minutes * minute;
      await sweep(); // due now, not before
      expect(calls.sent).toHaveLength(before);
      now += 1;
      await Promise.all([sweep(), sweep(), sweep()]);
      expect(calls.sent).toHaveLength(before + 1);
    }
    expect(new Set(calls.sent.map(({ message }) => JSON.stringify(message))).size).toBe(1);
    expect(await deliveries()).toEqual([
      expect.objectContaining({ status: "failed", attempts: 7, answer: "it answered with status 503" }),
    ]);
    now += 10_000 * minute;
    await sweep();
    expect(calls.sent).toHaveLength(7);
  });

  it("ends where the receiver refuses it, and one channel's end is not the other's", async () => {
    const webhooks: Platform["webhooks"] = {
      ...platform.webhooks,
      post: async () => ({ accepted: false, answer: "it answered with status 410", retryable: false }),
    };
    await deliverEvent({ ...platform, webhooks }, event("run-1"));
    expect(await states()).toEqual([
      ["webhook", "failed", 1],
      ["topic", "delivered", 1],
    ]);
  });

  it("is dropped where its channel was removed, and follows a receiver that has moved", async () => {
    calls.accepts = { accepted: false, answer: "no answer", retryable: true };
    await deliverEvent(platform, event("run-1"));
    await set({ url: "https://example.org/moved", topic: false });
    calls.accepts = { accepted: true, answer: "status 200" };
    calls.sent.length = 0;
    now += 6 * minute;
    await sweep();
    expect(calls.sent.map(({ to }) => to)).toEqual(["https://example.org/moved"]);
    expect(await states()).toEqual([
      ["webhook", "delivered", 2],
      ["topic", "dropped", 1],
    ]);
  });

  it("reaches every channel at least once, wherever its process dies", async () => {
    for (let deadly = 1; ; deadly += 1) {
      calls.sent.length = 0;
      const at = new Date(now).toISOString();
      const dying = dyingAt(deadly);
      const died = await deliverEvent(dying, event(`run-${deadly}`, at)).then(
        () => false,
        () => true,
      );
      // EventBridge's function is invoked again, and the sweep comes when the dead process's lease is over.
      await deliverEvent(platform, event(`run-${deadly}`, at));
      now += 5 * minute;
      await sweep();
      expect([deadly, [...new Set(calls.sent.map(({ to }) => to))].sort()]).toEqual([
        deadly,
        [platform.topic.arn, url],
      ]);
      expect((await deliveries()).slice(0, 2).map(({ status }) => status)).toEqual(["delivered", "delivered"]);
      if (!died) {
        expect(deadly).toBeGreaterThan(8);
        expect(calls.sent).toHaveLength(2);
        return;
      }
    }
  });

  /** The platform of a process that dies at its n-th call to a store or a receiver: before it, or after it by turns. */
  function dyingAt(deadly: number): Platform {
    let count = 0;
    const mortal = <T extends object>(target: T): T =>
      new Proxy(target, {
        get: (of, name) => {
          const method = of[name as keyof T];
          if (typeof method !== "function") return method;
          return async (...given: unknown[]) => {
            count += 1;
            const half = Math.ceil(deadly / 2);
            if (count > half || (count === half && deadly % 2 === 1)) throw new Error("died");
            const result = await method.apply(of, given);
            if (count === half) throw new Error("died");
            return result;
          };
        },
      });
    return {
      ...platform,
      notifications: mortal<NotificationRepository>(platform.notifications),
      webhooks: mortal(platform.webhooks),
      topic: mortal(platform.topic),
      objects: mortal(platform.objects),
    };
  }
});
