import type { ModelEvent } from "../../core/registry/outbox";
import { startEmbedded } from "../support/embedded";
import { seededRandom } from "../support/random";
import { dump } from "./events-any-order/dump";
import { createWorld, type Delivery, type World } from "./events-any-order/world";

const seeds = (process.env["RINGMASTER_EVENT_ORDERS"] ?? "1,2").split(",").map(Number);

/**
 * Values that may differ, because they are random or depend on the order of events; `stateOf` compares their effects.
 * The world excludes what the order determines by design: versions of a dataset are numbered in the order of their
 * files' events; a rule's cooldown and limit of open runs let the first cause through; a run that is ended from outside
 * is charged by the existing rows of its workers.
 */
const mayDiffer: readonly RegExp[] = [
  // A key of a run: 32 random bytes.
  /^Catalog RUN#[^ ]+ KEY$/,
  // The root of a team's signing keys: as many.
  /^object teams\/default\/keys\/check-hooks$/,
  // The packing of points differs. The points themselves are compared.
  /^Metrics RUN#/,
];

/** The number of tries of a file differs: two concurrent events both try. */
const omitted = (key: string, value: unknown) => (key === "tries" ? undefined : value);

describe("every event of a deployment, twice and in any order", () => {
  it("leaves every row and object as each once and in order leaves them", async () => {
    const expected = await stateAfter(async (deliveries) => {
      for (const deliver of deliveries) await deliver();
    });
    // Consumers that did nothing would leave the same as well.
    expect(expected.changed).toBeGreaterThan(30);
    expect(expected.followed).toEqual(expected.served);
    for (const seed of seeds) {
      const found = await stateAfter((deliveries) => deliverAnyhow(deliveries, seed));
      expect({ seed, ...found }).toEqual({ seed, ...expected });
    }
  });
});

async function stateAfter(deliver: (deliveries: readonly Delivery[]) => Promise<void>) {
  const embedded = await startEmbedded();
  try {
    const world = await createWorld(embedded);
    const before = await dump(embedded);
    await deliver(world.deliveries);
    const state = await stateOf(world);
    const rows = Object.entries(state.rows);
    const changed = rows.filter(([key, row]) => JSON.stringify(row) !== JSON.stringify(before[key])).length;
    return { ...state, changed };
  } finally {
    await embedded.stop();
  }
}

/** All rows and objects, the points, and the published events and requests. */
async function stateOf({ embedded, platform, calls }: World) {
  const all = Object.entries(await dump(embedded));
  const [losses, accuracies, summaries] = await Promise.all([
    platform.metrics.read("run-on", "train/loss"),
    platform.metrics.read("run-on", "train/accuracy"),
    platform.metrics.summaries("run-on"),
  ]);
  const models = ["left", "served"];
  const published = models.map((model) => calls.events.filter((event) => event.model === model));
  return {
    rows: JSON.parse(
      JSON.stringify(
        Object.fromEntries(all.filter(([key]) => !mayDiffer.some((pattern) => pattern.test(key)))),
        omitted,
      ),
    ) as Readonly<Record<string, unknown>>,
    points: { losses, accuracies, summaries: [...summaries].sort((a, b) => (a.metric < b.metric ? -1 : 1)) },
    // Each at least once, and first of each in order.
    events: published.map((events) => [...new Set(events.map((event) => JSON.stringify(event)))]),
    // A receiver that keeps the highest revision knows the champion, even if events arrive late.
    followed: published.map((events) => events.reduce(later, undefined)?.version),
    served: await Promise.all(models.map(async (model) => (await platform.registry.production(model)).version)),
    published: distinct(calls.notable),
    // Each event once through each channel.
    notified: calls.sent.map(({ to, message }) => `${to} ${message.id}`).sort(),
    // A repeated request for one of these names the same thing: a job has its attempt's name, an execution its run's, an answer its token.
    submitted: distinct(calls.submitted),
    started: distinct(calls.started),
    // To stop an execution that is over is nothing: a sweep that began before the event may ask for it.
    stopped: distinct(calls.stopped.filter((runId) => runId !== "run-aborted")),
    terminated: distinct(calls.terminated),
    answered: distinct([...calls.succeeded, ...calls.failed]),
    schedules: distinct([...calls.schedules]),
    // Counted once; a job's waiting is a level, which each look measures.
    measured: calls.measured
      .filter(({ measures }) => !("JobWait" in measures))
      .map((each) => JSON.stringify(each))
      .sort(),
  };
}

function later(known: ModelEvent | undefined, event: ModelEvent): ModelEvent | undefined {
  if (event.action !== "promoted" && event.action !== "rolled-back") return known;
  return known === undefined || known.revision < event.revision ? event : known;
}

function distinct(values: readonly unknown[]): readonly string[] {
  return [...new Set(values.map((value) => JSON.stringify(value)))].sort();
}

/** Each event twice, in an order drawn by chance; some at the same time. What fails comes again. */
async function deliverAnyhow(deliveries: readonly Delivery[], seed: number): Promise<void> {
  const random = seededRandom(seed);
  const waiting = [...deliveries, ...deliveries];
  let failures = 0;
  while (waiting.length > 0) {
    const together = Array.from(
      { length: Math.min(waiting.length, 1 + Math.floor(random() * 3)) },
      () => waiting.splice(Math.floor(random() * waiting.length), 1)[0]!,
    );
    const results = await Promise.allSettled(together.map((deliver) => deliver()));
    for (const [at, result] of results.entries()) {
      if (result.status !== "rejected") continue;
      failures += 1;
      if (failures > deliveries.length) throw result.reason;
      waiting.push(together[at]!);
    }
  }
}
