import { rmSync } from "node:fs";
import { ManualClock } from "../../support/manual-clock";
import { createTable, hashTable, type Item, N, S, type Subject, serveEmbedded, temporaryDirectory } from "./harness";

const start = Date.UTC(2026, 0, 1);
const now = start / 1_000;
const day = 86_400;

describe("time to live", () => {
  let directory: string;
  let clock: ManualClock;
  let subject: Subject;
  let table: string;
  beforeEach(async () => {
    directory = temporaryDirectory();
    clock = new ManualClock(start);
    subject = await serveEmbedded(directory, clock);
    table = await createTable(subject.client, hashTable);
  });
  afterEach(async () => {
    await subject.stop();
    expect(clock.pending).toBe(0);
    rmSync(directory, { recursive: true, force: true });
  });

  const enable = () =>
    subject.client.updateTimeToLive({
      TableName: table,
      TimeToLiveSpecification: { Enabled: true, AttributeName: "expires" },
    });
  const put = (pk: string, expires: Item[string]) =>
    subject.client.putItem({ TableName: table, Item: { pk: S(pk), expires } });
  const left = async () => {
    const { Items } = await subject.client.scan({ TableName: table });
    return (Items ?? []).map((item) => item["pk"]?.S).sort();
  };
  const sweptTo = async (...expected: string[]) => {
    for (let attempt = 0; attempt < 100; attempt++) {
      clock.advance(10_000);
      await new Promise((resolve) => setImmediate(resolve));
      if ((await left()).join() === expected.join()) return;
    }
    expect(await left()).toEqual(expected);
  };

  it("removes only expired items", async () => {
    await enable();
    await put("expired", N(now - 1));
    await put("fraction", N(now - 1.5));
    await put("later", N(now + day));
    await put("text", S(String(now - 1)));
    await put("milliseconds", N(start - 1));
    await put("six-years-ago", N(now - 6 * 365 * day));
    await sweptTo("later", "milliseconds", "six-years-ago", "text");
    clock.advance(day * 1_000);
    await sweptTo("milliseconds", "six-years-ago", "text");
  });

  it("goes by the last value written", async () => {
    await enable();
    await put("renewed", N(now + 5));
    await put("renewed", N(now + day));
    await put("shortened", N(now + day));
    await put("shortened", N(now + 5));
    clock.advance(60_000);
    await sweptTo("renewed");
  });

  it("covers items that existed before it was enabled, also after a restart", async () => {
    await put("before", N(now + 5));
    await put("stays", N(now + day));
    await enable();
    await subject.stop();
    subject = await serveEmbedded(directory, clock);
    expect(await left()).toEqual(["before", "stays"]);
    clock.advance(60_000);
    await sweptTo("stays");
  });
});
