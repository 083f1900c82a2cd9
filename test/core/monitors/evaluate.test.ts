import type { LoggedRow } from "../../../core/drift/shapes";
import { type EvaluateDependencies, evaluateMonitor, publishWindow } from "../../../core/monitors/evaluate";
import { deleteMonitor } from "../../../core/monitors/lifecycle";
import { useEmbedded } from "../../support/embedded";
import { drawer, dyingPorts } from "../../support/kills";
import { rounds } from "../../support/rounds";
import { createScene, minute, type Scene } from "./scene";

const embedded = useEmbedded();

const model = { type: "model", model: "toys", version: 1, everyRows: 200 } as const;

describe("a monitor of a model", () => {
  it("measures a window when its rows are there, and publishes the one with drift", async () => {
    const scene = await createScene(embedded, "rows");
    await scene.create({ name: "inputs", target: model });
    let baselines = 0;
    const withRows: EvaluateDependencies["withRows"] = (manifest, work) => {
      baselines += 1;
      return scene.dependencies.withRows(manifest, work);
    };
    const evaluate = () => evaluateMonitor({ ...scene.dependencies, withRows }, "inputs");
    await scene.log(scene.rows(150));
    expect(await evaluate()).toEqual([]);
    await scene.log(scene.rows(150));
    await scene.log(scene.rows(200, 300));
    await scene.log(scene.rows(10));
    const windows = await evaluate();
    expect(windows.map(({ window, rows, severity, drifted }) => [window, rows, severity, drifted])).toEqual([
      [1, 300, undefined, []],
      [2, 200, "critical", ["x"]],
    ]);
    // Both windows are compared with the same rows, which are read once.
    expect(baselines).toBe(1);
    expect(scene.calls.drift).toEqual([
      expect.objectContaining({ team: "rows", monitor: "inputs", windowEnd: windows[1]!.end, severity: "critical" }),
    ]);
    expect(await scene.windows("inputs")).toMatchObject([{ published: true }, { published: true, version: 1 }]);
    expect(await evaluate()).toEqual([]);
  });

  it("measures on a schedule the rows since the last window, if there are enough", async () => {
    const scene = await createScene(embedded, "schedule");
    const schedule = { expression: "rate(1 hour)" };
    await scene.create({ name: "hourly", target: { ...model, everyRows: undefined, schedule, minRows: 100 } });
    const evaluate = () => evaluateMonitor(scene.dependencies, "hourly");
    await scene.log(scene.rows(120));
    expect(await evaluate()).toEqual([]);
    scene.clock.time += 60 * minute;
    expect(await evaluate()).toMatchObject([{ window: 1, rows: 120 }]);
    await scene.log(scene.rows(50));
    scene.clock.time += 60 * minute;
    expect(await evaluate()).toEqual([]);
    await scene.log(scene.rows(50));
    expect(await evaluate()).toMatchObject([{ window: 2, rows: 100 }]);
  });

  it("compares the units of its sample, and a row that was sent in two batches once", async () => {
    const scene = await createScene(embedded, "sample");
    await scene.create({ name: "half", target: { ...model, samplingRate: 0.5 } });
    const rows = scene.rows(250);
    await scene.log(rows.slice(0, 150));
    await scene.log(rows);
    const [window] = await evaluateMonitor(scene.dependencies, "half");
    expect(window!.rows).toBe(scene.inSample(rows, 0.5));
  });

  it("follows production, and continues after its last window when a version returns", async () => {
    const scene = await createScene(embedded, "follows");
    const { version: _, ...target } = model;
    await scene.create({ name: "champion", target });
    let champion = 1;
    const { repository } = scene.dependencies.registry;
    const find = async () => ({ ...(await repository.find("toys"))!, production: champion });
    const registry = { repository: { find, findVersion: (name: string, version: number) => repository.findVersion(name, version) } }; // biome-ignore format: ports
    const evaluate = () => evaluateMonitor({ ...scene.dependencies, registry }, "champion");
    await scene.log(scene.rows(200), 1);
    await scene.log(scene.rows(200), 2);
    expect(await evaluate()).toMatchObject([{ version: 1 }]);
    champion = 2;
    expect(await evaluate()).toMatchObject([{ version: 2, window: 2 }]);
    champion = 1;
    expect(await evaluate()).toEqual([]);
    await scene.log(scene.rows(200), 1);
    expect(await evaluate()).toMatchObject([{ version: 1, window: 3 }]);
  });

  it("continues after its last window when it is created again, unless it watches another model", async () => {
    const scene = await createScene(embedded, "again");
    const again = async (target: Parameters<Scene["create"]>[0]["target"]) => {
      await deleteMonitor(scene.platform, "inputs");
      await scene.create({ name: "inputs", target });
      return evaluateMonitor(scene.dependencies, "inputs");
    };
    await scene.create({ name: "inputs", target: model });
    await scene.log(scene.rows(200, 300));
    expect(await evaluateMonitor(scene.dependencies, "inputs")).toMatchObject([{ window: 1, severity: "critical" }]);
    expect(await again({ ...model, everyRows: 150 })).toEqual([]);
    expect(await again({ type: "model", model: "toys", everyRows: 100, samplingRate: 0.9 })).toEqual([]);
    await scene.log(scene.rows(150));
    expect(await again({ ...model, everyRows: 150 })).toMatchObject([{ window: 2, rows: 150 }]);
    expect(scene.calls.drift).toHaveLength(1);
    await again({ type: "dataset", dataset: "shop" });
    expect(await again({ ...model, everyRows: 350 })).toMatchObject([{ window: 3, rows: 350 }]);
  });

  it("records why it cannot measure, once, and clears that with the next window", async () => {
    const scene = await createScene(embedded, "fails");
    const by = { by: "ada", at: "2026-01-01T00:00:00.000Z" };
    const { registry, monitors } = scene.platform;
    await registry.register("fails", { model: "toys", source: "s3://elsewhere", metrics: {} }, by, { request: "3" });
    await scene.create({ name: "inputs", target: { ...model, version: 2 } });
    const monitor = (await monitors.find("inputs"))!;
    const elsewhere = { ...monitor, revision: 2, target: { ...monitor.target, version: 3 } as typeof monitor.target };
    await monitors.save(elsewhere, monitor);
    await scene.log(scene.rows(200), 3);
    await evaluateMonitor(scene.dependencies, "inputs");
    await evaluateMonitor(scene.dependencies, "inputs");
    const failed = (await monitors.find("inputs"))!;
    expect(failed).toMatchObject({ revision: 3, lastFailure: { code: "INVALID_INPUT" } });
    await monitors.save({ ...failed, revision: 4, target: monitor.target }, failed);
    await scene.log(scene.rows(200), 2);
    expect(await evaluateMonitor(scene.dependencies, "inputs")).toHaveLength(1);
    expect((await monitors.find("inputs"))!.lastFailure).toBeUndefined();
  });
});

describe("a monitor of a dataset", () => {
  it.each([
    ["the version before", undefined, [undefined, "critical", undefined]],
    ["a fixed version", 1, [undefined, "critical", "critical"]],
  ] as const)("compares each new version with %s", async (_case, baseline, severities) => {
    const scene = await createScene(embedded, `dataset-${baseline ?? "before"}`);
    await scene.create({ name: "shop", target: { type: "dataset", dataset: "shop", baseline } });
    expect(await evaluateMonitor(scene.dependencies, "shop")).toEqual([]);
    for (const shift of [0, 500, 500]) await scene.push(shift);
    const windows = await evaluateMonitor(scene.dependencies, "shop");
    expect(windows.map(({ version, severity }) => [version, severity])).toEqual(
      severities.map((severity, i) => [i + 2, severity]),
    );
  });
});

/** Dies before one of its calls of the stores or the bus, or after it, if it makes so many. */
function mortal(whole: EvaluateDependencies, calls: number, isAfter: boolean): EvaluateDependencies {
  const dying = dyingPorts(calls, isAfter);
  const { monitors, inferences, objects, events } = whole;
  return {
    ...whole,
    monitors: dying(monitors),
    inferences: dying(inferences),
    objects: dying(objects),
    events: dying(events),
  };
}

async function sweep({ platform, dependencies }: Scene): Promise<void> {
  const { monitorIndex } = platform;
  for (const { team, monitor, window } of await monitorIndex.unpublished()) {
    if (team !== platform.team) continue;
    await publishWindow(dependencies, (await platform.monitors.findWindow(monitor, window))!);
  }
  await evaluateMonitor(dependencies, "inputs");
}

const seeds = Array.from({ length: rounds(2, 40) }, (_, index) => index + 5);

/**
 * Batches are sent any number of times, and invocations come at any time, at the same time, twice or late, and die
 * before or after any of their calls. The sweep comes at the end.
 */
it.each(seeds)("no window is lost or doubled, whatever happens (seed %d)", async (seed) => {
  const scene = await createScene(embedded, `mix-${seed}`);
  await scene.create({ name: "inputs", target: { ...model, everyRows: 100 } });
  const draw = drawer(seed);
  const sent: LoggedRow[][] = [];
  const work: Promise<unknown>[] = [];
  for (let turn = 0; turn < 20; turn += 1) {
    const what = draw(5);
    if (what === 0 || sent.length === 0) {
      sent.push(scene.rows(40 + draw(90), draw(3) === 0 ? 500 : 0));
      await scene.log(sent.at(-1)!);
    } else if (what === 1) work.push(scene.log(sent[draw(sent.length)]!));
    else if (what === 2) await Promise.allSettled(work.splice(0));
    else
      work.push(evaluateMonitor(mortal(scene.dependencies, draw(30), draw(2) === 0), "inputs").catch(() => undefined));
  }
  await Promise.allSettled(work);
  for (let time = 0; time < 2; time += 1) await sweep(scene);

  const windows = await scene.windows("inputs");
  const batches = (await scene.platform.inferences.list({ model: "toys", version: 1 }, { after: 0, limit: 200 })).items;
  expect(batches.map(({ rows }) => rows).sort()).toEqual(sent.map(({ length }) => length).sort());
  expect(windows.map(({ window }) => window)).toEqual(windows.map((_window, i) => i + 1));
  expect(new Set(windows.map(({ end }) => end)).size).toBe(windows.length);
  // Each window begins after the one before: their rows are those of the batches up to the monitor's position.
  const { position } = (await scene.platform.monitors.find("inputs"))!;
  const read = batches.filter(({ sequence }) => sequence <= (position.sequences["1"] ?? 0));
  const rowsOf = (all: readonly { readonly rows: number }[]) => all.reduce((sum, { rows }) => sum + rows, 0);
  expect(rowsOf(windows)).toBe(rowsOf(read));
  expect(rowsOf(batches) - rowsOf(read)).toBeLessThan(100);
  const drifted = windows.filter(({ severity }) => severity).map(({ end }) => end);
  expect([...new Set(scene.calls.drift.map(({ windowEnd }) => windowEnd))].sort()).toEqual(drifted);
  expect(windows.every(({ published }) => published)).toBe(true);
});
