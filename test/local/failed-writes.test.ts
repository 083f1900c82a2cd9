import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import { Store } from "../../local/batch/store";
import { DurableQueue } from "../../local/durable-queue";
import { Rules } from "../../local/events/rules";
import type { EmittedEvent } from "../../local/service";
import { JsonDatabase } from "../../local/storage/json-database";
import { entryWrite, Outbox } from "../../local/storage/outbox";
import { Ticker } from "../../local/ticker";
import { parseSchedule } from "../../stack/timetable";
import { ManualClock } from "../support/manual-clock";
import { temporaryFolder } from "../support/temporary-folder";
import { until } from "./support/targets";

/* What the services keep in memory stays equal to what is on disk, and what they could not write is written later. */

const folder = temporaryFolder("failed-writes");
let directory: string;
let db: JsonDatabase;
const clock = new ManualClock(0);
beforeEach(async () => {
  directory = mkdtempSync(join(folder, "test-"));
  db = new JsonDatabase({ directory: join(directory, "db"), store: "test" });
  await db.open();
  jest.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await db.close();
});

/** Fails every write, also after the database was opened again, until the returned function is called. */
function refuseWrites(): () => void {
  const spy = jest
    .spyOn(ClassicLevel.prototype, "batch")
    .mockImplementation(() => Promise.reject(new Error("No space left on device")) as never);
  return () => spy.mockRestore();
}

describe("a queue", () => {
  it("accepts an item again whose first write failed, and delivers it once although its removal failed", async () => {
    const delivered: string[] = [];
    let accept: (() => void) | undefined;
    const queue = new DurableQueue<string>({
      ...{ db, clock, prefix: "q!" },
      deliver: async ({ item }) => {
        delivered.push(item);
        accept = refuseWrites();
        return { outcome: "done" };
      },
      deadLetters: "/nonexistent/never-written",
    });
    const allow = refuseWrites();
    await expect(queue.add("a", "item")).rejects.toThrow("No space");
    allow();
    await queue.add("a", "item");
    await until(() => accept !== undefined);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await db.keys()).toEqual(["q!a"]);
    accept!();
    await until(() => {
      clock.advance(1_000);
      return queue.size === 0;
    });
    expect([delivered, await db.keys()]).toEqual([["item"], []]);
    await queue.close();
  });
});

it("a firing whose write failed is repeated", async () => {
  const fired: number[] = [];
  const start = clock.now();
  const ticker = new Ticker(clock, "test", async (_id, dueAt) => {
    fired.push(dueAt);
    if (fired.length < 3) throw new Error("full");
  });
  ticker.set("a", start + 10);
  for (let i = 0; i < 6; i++) {
    clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(fired).toEqual([start + 10, start + 10, start + 10]);
  await ticker.close();
});

it("a rule that could not be stored or deleted is as it was", async () => {
  const rules = new Rules(db, parseSchedule);
  const rule = { Name: "r", State: "ENABLED", targets: [], since: 0, EventPattern: '{"source":["a"]}' } as const;
  let allow = refuseWrites();
  await expect(rules.put(rule)).rejects.toThrow("No space");
  expect(rules.matching({ source: "a" })).toEqual([]);
  allow();
  await rules.put(rule);
  allow = refuseWrites();
  await expect(rules.put({ ...rule, State: "DISABLED" })).rejects.toThrow("No space");
  expect(rules.matching({ source: "a" })).toEqual([rule]);
  allow();
});

it("an outbox sends what the bus refused after a restart, in order", async () => {
  const event = (detailType: string): EmittedEvent => ({ source: "s", detailType, resources: [], detail: {} });
  const refuse = () => {
    throw new Error("full");
  };
  const outbox = new Outbox(db, { put: refuse }, "o/");
  await outbox.load();
  const entries = ["a", "b"].map((name) => outbox.entry(event(name)));
  await db.batch(entries.map(entryWrite));
  await outbox.send(entries);
  outbox.close();
  const sent: string[] = [];
  const next = new Outbox(db, { put: ({ detailType }) => void sent.push(detailType) }, "o/");
  await next.load();
  const later = next.entry(event("c"));
  await db.batch([entryWrite(later)]);
  await next.send([later]);
  expect(sent).toEqual(["a", "b", "c"]);
  expect(await db.keys({ gt: "o/", lt: "o/\uffff" })).toEqual([]);
});

it("Batch writes rows later that it could not write, and sends events later that the bus refused", async () => {
  const sent: EmittedEvent[] = [];
  let full = true;
  const sink = {
    put: (event: EmittedEvent) => {
      if (full) throw new Error("full");
      sent.push(event);
    },
  };
  const store = new Store(join(directory, "batch"), sink);
  await store.open();
  const event = { source: "aws.batch", detailType: "change", resources: [], detail: {} };
  const allow = refuseWrites();
  store.put("job!a", { status: "SUCCEEDED" }, event);
  await expect(store.flush()).rejects.toThrow("No space");
  allow();
  await until(() => !store.readable() && store.get("job!a") !== undefined);
  expect(sent).toEqual([]);
  full = false;
  await until(() => sent.length > 0);
  expect(sent).toEqual([event]);
  await store.close();
});
