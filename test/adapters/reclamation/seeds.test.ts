import { createObjectStore } from "../../../adapters/s3/object-store";
import { mulberry32 } from "../../../core/datasets/split";
import { sha256 } from "../../../core/digest";
import { reclaim } from "../../../core/reclamation/reclaim";
import { createReclamationWorld, type ReclamationWorld } from "../../core/reclamation/world";
import { rounds } from "../../support/rounds";
import { createModelS3 } from "./model-s3";
import { ModelProcess } from "./process";

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
const seeds = rounds(60, 3_000);
const operations = 300;

interface Writer {
  readonly process: ModelProcess;
  readonly body: string;
  readonly startedAt: number;
}

const keyOf = (body: string) => `teams/red/cas/sha256/${sha256(body)}`;
const referenceTo = (body: string) => `{"sha256":"${sha256(body)}"}`;

let world: ReclamationWorld;
let nowSpy: jest.SpyInstance;
beforeEach(() => {
  nowSpy = jest.spyOn(Date, "now").mockImplementation(() => world.now);
});
afterEach(() => nowSpy.mockRestore());

/**
 * Runs writers, removals of references, moves of references and one or two calls of reclamation in a random order, and
 * kills them at random operations. Checks after each operation that every referenced content is there.
 */
async function play(seed: number) {
  const random = mulberry32(seed);
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)];
  let turn: () => Promise<void> = async () => undefined;
  // The process that is created next takes its operations; a killed one is never stepped again.
  world = createReclamationWorld(() => turn(), 3);
  const bodies = Array.from({ length: 8 }, (_, i) => `content ${i}`);
  for (const body of bodies) world.put(keyOf(body), body, world.now - random() * 6 * dayMs);
  for (const body of bodies) if (random() < 0.4) world.rows.push(referenceTo(body));
  let collectors: ModelProcess[] = [];
  let writers: Writer[] = [];
  const movedAt = new Map<string, number>();
  const counts = { deleted: 0, published: 0, killed: 0, cycles: 0 };

  const expectAll = (after: string) => {
    for (const row of world.rows) {
      const digest = row.slice(11, -2);
      if (!world.stored.has(`teams/red/cas/sha256/${digest}`)) throw new Error(`seed ${seed}: lost after ${after}`);
    }
  };
  const publish = (writer: Writer) => {
    expect(writer.process.failure).toBeUndefined();
    world.rows.push(referenceTo(writer.body));
    counts.published += 1;
    writers = writers.filter((one) => one !== writer);
  };
  const finish = async (writer: Writer) => {
    while (!writer.process.isOver) await writer.process.step();
    publish(writer);
  };
  const advance = async (ms: number) => {
    for (const writer of writers) if (world.now + ms - writer.startedAt > 0.9 * dayMs) await finish(writer);
    world.now += ms;
  };

  for (let done = 0; done < operations; done += 1) {
    const what = random();
    if (what < 0.5) {
      let collector = pick(collectors);
      if (!collector || (collectors.length < 2 && random() < 0.02)) {
        collector = new ModelProcess();
        const own = collector;
        // Reclamation and its world share one scheduler: an operation waits for the process that began it.
        turn = own.turn;
        await own.start(() => reclaim(world, { until: Number.POSITIVE_INFINITY, everyMs: dayMs / 2 }));
        collectors = [...collectors, own];
      } else {
        turn = collector.turn;
        const before = world.stored.size;
        await collector.step();
        counts.deleted += Math.max(0, before - world.stored.size);
      }
      if (collector.isOver) {
        expect(collector.failure).toBeUndefined();
        counts.cycles += 1;
        collectors = collectors.filter((one) => one !== collector);
      } else if (random() < 0.01) {
        counts.killed += 1;
        collectors = collectors.filter((one) => one !== collector);
      }
      expectAll("reclamation");
    } else if (what < 0.75) {
      const writer = pick(writers);
      if (!writer || (writers.length < 3 && random() < 0.3)) {
        const process = new ModelProcess();
        const body = pick(bodies)!;
        const store = createObjectStore(createModelS3(world, process.turn), "bucket", "teams/red/");
        const claims = random() < 0.5;
        await process.start(async () => {
          if (!claims || (await store.claimContent(sha256(body))) === undefined) await store.putContent(body);
        });
        writers = [...writers, { process, body, startedAt: world.now }];
      } else if (writer.process.isOver) publish(writer);
      else if (random() < 0.05) {
        counts.killed += 1;
        writers = writers.filter((one) => one !== writer);
      } else await writer.process.step();
      expectAll("a writer");
    } else if (what < 0.85) {
      if (world.rows.length > 3) world.rows.splice(Math.floor(random() * world.rows.length), 1);
    } else if (what < 0.9) {
      // A reference moves to another row, without its content. It does so once in four days.
      const row = pick(world.rows);
      if (row !== undefined && world.now - (movedAt.get(row) ?? 0) > 4 * dayMs) {
        movedAt.set(row, world.now);
        world.rows.splice(world.rows.indexOf(row), 1);
        world.rows.splice(Math.floor(random() * (world.rows.length + 1)), 0, row);
      }
    } else await advance(random() * 12 * hourMs);
  }
  return counts;
}

it(`loses no referenced content, with kills at any operation: ${seeds} seeds`, async () => {
  const total = { deleted: 0, published: 0, killed: 0, cycles: 0 };
  for (let seed = 1; seed <= seeds; seed += 1) {
    const counts = await play(seed);
    for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += counts[name];
  }
  // The runs do what they are meant to.
  expect(total.deleted).toBeGreaterThan(seeds / 4);
  expect(total.published).toBeGreaterThan(seeds * 3);
  expect(total.killed).toBeGreaterThan(seeds);
  expect(total.cycles).toBeGreaterThan(seeds);
});
