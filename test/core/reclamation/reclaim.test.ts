import { sha256 } from "../../../core/digest";
import { type CycleState, claimedMs, graceMs } from "../../../core/reclamation/ports";
import { type ReclaimDependencies, reclaim } from "../../../core/reclamation/reclaim";
import { createReclamationWorld, type ReclamationWorld } from "./world";

const dayMs = 24 * 60 * 60 * 1000;
const content = (text: string) => `teams/red/cas/sha256/${sha256(text)}`;

let world: ReclamationWorld;
beforeEach(() => {
  world = createReclamationWorld();
});

/** Runs cycles to their ends, a day apart. */
async function cycles(count: number, more: Partial<ReclaimDependencies> = {}): Promise<CycleState> {
  let state: CycleState | undefined;
  for (let done = 0; done < count; done += 1) {
    world.now += dayMs;
    state = await reclaim({ ...world, ...more }, { until: Number.POSITIVE_INFINITY, everyMs: 0 });
  }
  return state as CycleState;
}

function old(text: string, team = "red"): string {
  const key = `teams/${team}/cas/sha256/${sha256(text)}`;
  world.put(key, text, world.now - graceMs);
  return key;
}

it("deletes content without a reference in the second cycle that finds it, and nothing else", async () => {
  const [row, manifest, nested, deep, unused] = ["row", "manifest", "nested", "deep", "unused"].map((text) =>
    old(text),
  ) as [string, string, string, string, string];
  const list = old(JSON.stringify([{ sha256: sha256("nested") }]));
  const outer = old(JSON.stringify({ parts: { sha256: sha256(JSON.stringify([{ sha256: sha256("deep") }])) } }));
  const inner = old(JSON.stringify([{ sha256: sha256("deep") }]));
  world.rows.push(`{"weights":"${sha256("row")}","list":"${list.slice(-64)}","outer":"${outer.slice(-64)}"}`);
  world.put("teams/red/runs/run-1/checkpoints/1/manifest.json", `{"tensors":["${sha256("manifest")}"]}`, 0);
  world.put("teams/red/inbox/digits/file.csv", sha256("unused"), 0);

  expect(await cycles(1)).toMatchObject({ phase: "done", cycle: 1, unreferenced: { objects: 1, bytes: 6 } });
  expect(world.stored.has(unused)).toBe(true);
  expect(await cycles(1)).toMatchObject({ cycle: 2, deleted: { objects: 1, bytes: 6 } });
  const left = [row, manifest, nested, deep, list, outer, inner];
  expect([...world.stored.keys()].filter((key) => key.includes("/cas/")).sort()).toEqual(left.sort());
});

it("leaves young content, and content that was found in the meantime", async () => {
  const young = content("young");
  world.put(young, "young", world.now + 2 * dayMs - claimedMs);
  const claimed = old("claimed");
  await cycles(1);
  world.put(claimed, "claimed", world.now); // a writer has found it
  await cycles(1);
  expect([...world.stored.keys()]).toEqual(expect.arrayContaining([young, claimed]));
});

it("deletes tensors and files of results that are no longer needed", async () => {
  const tensor = `teams/red/runs/run-1/tensors/1/${sha256("tensor")}`;
  const [copied, waiting] = ["copied", "waiting"].map((text) => `teams/red/runs/run-1/training/files/${sha256(text)}`);
  for (const key of [tensor, copied!, waiting!]) world.put(key, "x", world.now - graceMs);
  old("copied");
  world.put("teams/red/runs/run-1/training/result.json", `"${sha256("copied")} ${sha256("waiting")}"`, 0);
  await cycles(2);
  expect([...world.stored.keys()].sort()).toEqual([
    content("copied"),
    `teams/red/runs/run-1/training/files/${sha256("waiting")}`,
    "teams/red/runs/run-1/training/result.json",
  ]);
});

it("counts what each team stores", async () => {
  old("12345");
  old("123", "blue");
  world.rows.push(sha256("12345"));
  world.put("teams/blue/runs/run-1/training/task.json", "{}", 0);
  world.put("teams/.incoming/blue/upload", "1234567", 0);
  expect((await cycles(1)).teams).toEqual({ blue: { objects: 2, bytes: 5 }, red: { objects: 1, bytes: 5 } });
  expect((await cycles(1)).teams).toEqual({ blue: { objects: 1, bytes: 2 }, red: { objects: 1, bytes: 5 } });
});

it("deletes nothing in a dry run, and finds the same", async () => {
  const unused = old("unused");
  for (let cycle = 1; cycle <= 3; cycle += 1) {
    world.now += dayMs;
    const state = await reclaim(world, { until: Number.POSITIVE_INFINITY, everyMs: 0, dryRun: true });
    expect(state).toMatchObject({ cycle, unreferenced: { objects: 1 }, deleted: { objects: 0 } });
  }
  expect(world.stored.has(unused)).toBe(true);
});

it("begins one cycle a day, and continues one that is not complete", async () => {
  const unused = old("unused");
  const options = () => ({ until: world.now, everyMs: dayMs });
  const phases: string[] = [];
  for (let call = 0; call < 40; call += 1) {
    const { cycle, phase } = await reclaim(world, options());
    phases.push(`${cycle} ${phase}`);
    if (phase === "done") world.now += dayMs / 4;
  }
  expect([...new Set(phases)].slice(0, 6)).toEqual([
    ...["1 documents", "1 contents", "1 sweep", "1 done", "2 documents", "2 contents"],
  ]);
  expect(world.stored.has(unused)).toBe(false);
});

it("reads an object that does not change once", async () => {
  const body = (i: number) => `${"x".repeat(64)}${i}`;
  for (let i = 0; i < 30; i += 1) {
    old(body(i));
    world.rows.push(sha256(body(i)));
  }
  const listed = old(body(30));
  const list = old(JSON.stringify([sha256(body(30))]));
  world.rows.push(list.slice(-64));
  await cycles(1);
  expect(world.reads.size).toBe(32);
  world.reads.clear();
  const task = "teams/red/runs/run-1/training/task.json";
  world.put(task, "{}", 0);
  await cycles(2);
  expect([...world.reads.keys()]).toEqual([task]);
  // The references that are known from the first cycle count.
  expect(world.stored.has(listed)).toBe(true);
  world.put(task, "{ }", 0);
  await cycles(1);
  expect(world.reads.get(task)).toBe(2);
});

it("stops if another call has saved a state in the meantime", async () => {
  old("unused");
  world.now += dayMs;
  const first = reclaim(world, { until: Number.POSITIVE_INFINITY, everyMs: 0, pace: () => new Promise(setImmediate) });
  const second = reclaim(world, { until: Number.POSITIVE_INFINITY, everyMs: 0 });
  const phases = (await Promise.all([first, second])).map(({ phase }) => phase);
  expect(phases.filter((phase) => phase === "done").length).toBeLessThanOrEqual(1);
  expect(await cycles(1)).toMatchObject({ phase: "done" });
});

it("does not go on after an object that it cannot read", async () => {
  const unused = old("unused");
  world.put("teams/red/runs/run-1/training/task.json", "{}", 0);
  const objects = {
    ...world.objects,
    read: async (key: string) => {
      if (key.endsWith("task.json")) throw new Error("task.json is damaged");
      return world.objects.read(key);
    },
  };
  for (let call = 0; call < 3; call += 1) await expect(cycles(1, { objects })).rejects.toThrow("task.json is damaged");
  expect(world.stored.has(unused)).toBe(true);
});
