import { Readable } from "node:stream";
import { createObjectStore } from "../../../adapters/s3/object-store";
import { sha256 } from "../../../core/digest";
import type { ObjectStore } from "../../../core/ports";
import { reclaim } from "../../../core/reclamation/reclaim";
import { createReclamationWorld, type ReclamationWorld } from "../../core/reclamation/world";
import { createModelS3 } from "./model-s3";
import { ModelProcess } from "./process";

const dayMs = 24 * 60 * 60 * 1000;
const manifest = "teams/red/runs/run-1/checkpoints/1/manifest.json";

let world: ReclamationWorld;
let nowSpy: jest.SpyInstance;
beforeEach(() => {
  nowSpy = jest.spyOn(Date, "now").mockImplementation(() => world.now);
});
afterEach(() => nowSpy.mockRestore());

const bodies = { small: "small content", large: "large ".repeat(11_000) } as const;
const keyOf = (body: string) => `teams/red/cas/sha256/${sha256(body)}`;

/** The ways in which a writer finds out that its content is there. */
const writers: Readonly<Record<string, { body: string; write(store: ObjectStore): Promise<unknown> }>> = {
  "puts a small content": { body: bodies.small, write: (store) => store.putContent(bodies.small) },
  "streams a content": {
    body: bodies.large,
    write: (store) => store.putContentStream(() => Readable.from([Buffer.from(bodies.large)])),
  },
  "claims a content": {
    body: bodies.small,
    async write(store) {
      if ((await store.claimContent(sha256(bodies.small))) === undefined) await store.putContent(bodies.small);
    },
  },
};

const references: readonly ((body: string) => void)[] = [
  (body) => world.rows.push(`{"sha256":"${sha256(body)}"}`),
  (body) => world.put(manifest, `{"tensors":["${sha256(body)}"]}`),
  (body) => {
    const list = JSON.stringify([sha256(body)]);
    world.put(keyOf(list), list);
    world.rows.push(`{"list":"${sha256(list)}"}`);
  },
];

/** The distance between the publish positions that are played of each pair; `npm run campaigns` plays all. */
const stride = Number(process.env["RINGMASTER_INTERLEAVING_STRIDE"] ?? 5);

/** Two cycles find the content without a reference, and the second deletes it. */
const cycles = 2;

/** Does one cycle a day. */
async function reclaimDaily(): Promise<void> {
  for (let day = 0; day < cycles; day += 1) {
    await reclaim(world, { until: Number.POSITIVE_INFINITY, everyMs: 0 });
    world.now += dayMs;
  }
}

/**
 * Runs a writer among the operations of reclamation. `positions` are the numbers of operations of reclamation before
 * each operation of the writer; the last one is before its reference. Returns whether the content is there at the end,
 * and the time that the writer took.
 */
async function play(writer: string, age: number, positions: readonly number[], reference: number) {
  const { body, write } = writers[writer]!;
  const collector = new ModelProcess();
  const author = new ModelProcess();
  world = createReclamationWorld(collector.turn, 100);
  world.put(keyOf(body), body, world.now - age * dayMs);
  const store = createObjectStore(createModelS3(world, author.turn), "bucket", "teams/red/");
  let checkedAt = 0;
  await author.start(async () => {
    checkedAt = world.now;
    await write(store);
  });
  await collector.start(() => reclaimDaily());
  let operations = 0;
  const collectUpTo = async (position: number) => {
    for (; operations < position && !collector.isOver; operations += 1) await collector.step();
  };
  await collectUpTo(positions[0]!);
  checkedAt = world.now;
  for (const position of positions.slice(0, -1)) {
    await collectUpTo(position);
    await author.step();
  }
  while (!author.isOver) await author.step();
  await collectUpTo(positions.at(-1)!);
  expect(author.failure).toBeUndefined();
  references[reference % references.length]!(body);
  const took = world.now - checkedAt;
  while (!collector.isOver) await collector.step();
  expect(collector.failure).toBeUndefined();
  return { kept: world.stored.has(keyOf(body)), took };
}

async function countOperations(): Promise<number> {
  const collector = new ModelProcess();
  world = createReclamationWorld(collector.turn, 100);
  world.put(keyOf(bodies.small), bodies.small, 0);
  await collector.start(() => reclaimDaily());
  let operations = 0;
  for (; !collector.isOver; operations += 1) await collector.step();
  return operations;
}

it.each([
  ["puts a small content", 1.1],
  ["puts a small content", 9],
  ["streams a content", 2.1],
  ["claims a content", 9],
])("a writer that %s keeps what it finds, at the age of %d days: interleavings", async (writer, age) => {
  const last = (await countOperations()) + 2;
  let played = 0;
  let slow = 0;
  for (let check = 0; check <= last; check += 1) {
    for (let next = check; next <= last; next += 1) {
      // The offset differs from pair to pair, so that each position is played.
      for (let publish = next + ((check + next) % stride); publish <= last; publish += stride) {
        const { kept, took } = await play(writer, age, [check, next, publish], check + next + publish);
        played += 1;
        // A writer must store its reference within a day.
        if (took > dayMs) {
          slow += 1;
          break;
        }
        if (!kept) throw new Error(`lost: check ${check}, next ${next}, publish ${publish}`);
      }
    }
  }
  expect(played - slow).toBeGreaterThan(500 / stride);
});
