import { createHash } from "node:crypto";
import type { StepEnd } from "../../../core/pipelines/end-step";
import { stepsOf } from "../../../core/pipelines/plan";
import type { StepReference } from "../../../core/pipelines/records";
import { cancelPipelineRun, pushPipeline, resumePipelineRun, startPipelineRun } from "../../../core/pipelines/start";
import { pipelineWorld, type WorldOptions } from "./memory";

const digest = (text: string) => createHash("sha256").update(text).digest("hex");
const actor = "ada";
/** An expression. */
const x = (text: string) => `\${${text}}`;

/** Mulberry32. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let z = Math.imul(state ^ (state >>> 15), state | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 4294967296;
  };
}

type Step = Record<string, unknown> & { function: { module: string; sha256: string } };
const step = (module: string, rest: Record<string, unknown> = {}): Step => ({
  function: { module, sha256: digest(module) },
  ...rest,
});

/** The functions of the tests: `sum` adds its input's numbers; `fail` fails. */
function compute(module: string, input: Record<string, unknown>): StepEnd {
  if (module.startsWith("fail")) return { status: "failed", failure: { code: "USER_CODE", message: "it fails" } };
  const sum = Object.values(input)
    .flat()
    .reduce((total: number, value) => total + (Number(value) || 0), 0);
  return { status: "succeeded", output: { v: (sum % 97) + 1, list: Array.from({ length: sum % 4 }, (_, i) => i) } };
}

async function started(definition: object, options: Partial<WorldOptions> = {}, request: object = {}) {
  const world = pipelineWorld({ call: (_, module, input) => ({ end: compute(module, input) }), ...options });
  const run = await start(world, definition, request);
  await world.settle();
  return { world, run, ...(await resultOf(world, run.pipelineRunId)) };
}

async function start(world: ReturnType<typeof pipelineWorld>, definition: object, request: object = {}) {
  const { pipeline } = await world.surely(() =>
    pushPipeline({ ...world.dependencies, pause: async () => undefined }, definition, { actor }, {}),
  );
  const key = `${Math.random()}`;
  return world.surely(() =>
    startPipelineRun(world.dependencies, {
      pipeline: pipeline.name,
      parameters: {},
      actor,
      idempotencyKey: key,
      ...request,
    }),
  );
}

async function resultOf(world: ReturnType<typeof pipelineWorld>, id: string) {
  const states = [...world.states]
    .filter(([key, { item }]) => key.startsWith(id) && item === undefined)
    .map(([, state]) => state);
  return { ended: world.runs.get(id)!, byName: Object.fromEntries(states.map((state) => [state.step, state])) };
}

const total = (value: unknown): number => [value].flat().reduce((sum: number, each) => sum + (Number(each) || 0), 0);

/** Computes the status and value of each step in the order of the definition without any of the engine's parts. */
function reference(definition: { steps: Record<string, Step>; finally: Record<string, Step> }) {
  const results: Record<string, { status: string; v?: unknown }> = {};
  const resolve = (text: unknown, item?: unknown): unknown => {
    if (typeof text !== "string") return text;
    const [, name] = /^\$\{steps\.(\w+)\.output\.v\}$/.exec(text) ?? [];
    return text === x("item") ? item : results[name!]?.v;
  };
  const run = ([name, each]: [string, Step], parents: string[]) => {
    const set = (result: { status: string; v?: unknown }): void => {
      results[name] = result;
    };
    const statuses = parents.map((parent) => results[parent]?.status);
    const skipped = statuses.filter((status) => status === "skipped").length;
    if (statuses.some((status) => status === "failed" || status === undefined)) return;
    if (skipped > 0 && (each["join"] !== "any" || skipped === parents.length)) return set({ status: "skipped" });
    const [, when] = /steps\.(\w+)\.output\.v\) > 48/.exec(String(each["when"] ?? "")) ?? [];
    if (when !== undefined && !(total(results[when]?.v) > 48)) return set({ status: "skipped" });
    const values = (item?: unknown) =>
      Object.fromEntries(Object.entries(each["input"] ?? {}).map(([field, text]) => [field, resolve(text, item)]));
    const items = each["forEach"] === undefined ? undefined : (each["forEach"] as unknown[]);
    const ends = (items ?? [undefined]).map((item) => compute(each.function.module, values(item)));
    if (ends.some(({ status }) => status === "failed")) return set({ status: "failed" });
    const outputs = ends.map((end) => (end as { output: { v: number } }).output.v);
    set({ status: "succeeded", v: items ? outputs : outputs[0] });
  };
  for (const entry of Object.entries(definition.steps)) run(entry, entry[1]["parents"] as string[]);
  for (const entry of Object.entries(definition.finally)) run(entry, []);
  return results;
}

/** A random graph of up to 40 steps, in topological order: inputs, conditions, joins, lists, failures. */
function randomDefinition(seed: number) {
  const random = randomOf(seed);
  const steps: Record<string, Step> = {};
  const size = 1 + Math.floor(random() * 40);
  for (let i = 0; i < size; i += 1) {
    const parents = Object.keys(steps).filter(() => random() < 2.2 / (i + 1));
    const input = {
      own: Math.floor(random() * 5),
      ...Object.fromEntries(parents.map((parent) => [parent, `\${steps.${parent}.output.v}`])),
    };
    const conditional =
      parents.length > 0 && random() < 0.2 ? { when: `\${$sum(steps.${parents[0]}.output.v) > 48}` } : {};
    const list =
      random() < 0.15
        ? {
            forEach: Array.from({ length: Math.floor(random() * 6) }, (_, n) => n),
            concurrency: 1 + Math.floor(random() * 3),
            input: { ...input, item: x("item") },
          }
        : {};
    const module = random() < 0.04 ? `fail${i}` : "sum";
    steps[`s${i}`] = step(module, {
      input,
      ...conditional,
      ...(random() < 0.3 ? { join: "any" } : {}),
      ...list,
      parents,
    });
  }
  return {
    name: "random",
    onFailure: random() < 0.5 ? "finish" : "stop",
    steps,
    finally: { last: step("sum", { input: { own: 1 } }), report: step("sum", { input: { own: 2 } }) },
  } as const;
}

const withoutParents = (steps: Record<string, Step>) =>
  Object.fromEntries(Object.entries(steps).map(([name, { parents: _, ...rest }]) => [name, rest]));

describe("a pipeline's run", () => {
  test("300 random graphs with deaths of processes and repeated events equal a reference, and no key is computed twice", async () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const definition = randomDefinition(seed);
      const expected = reference(definition);
      const random = randomOf(seed * 7919);
      const { ended, byName, world } = await started(
        { ...definition, steps: withoutParents(definition.steps) },
        {
          random,
          deaths: seed % 3 === 0 ? 0 : 0.01,
          duplicates: 0.05,
          call: (_, module, input) => ({ end: compute(module, input), seconds: random() * 20 }),
        },
      );
      const failed = Object.values(expected).some(({ status }) => status === "failed");
      expect({ seed, status: ended.status }).toEqual({ seed, status: failed ? "failed" : "succeeded" });
      for (const [name, { status, v }] of Object.entries(expected)) {
        const state = byName[name];
        // After a failure, `stop` leaves it open which other steps have run.
        if (
          failed &&
          definition.onFailure === "stop" &&
          !(name in definition.finally) &&
          (state === undefined || state.status === "cancelled")
        )
          continue;
        expect({ seed, name, status: state?.status }).toEqual({ seed, name, status });
        const output = state?.output as { v?: unknown } | { v?: unknown }[] | undefined;
        if (status === "succeeded")
          expect({ seed, name, v: Array.isArray(output) ? output.map((each) => each.v) : output?.v }).toEqual({
            seed,
            name,
            v,
          });
      }
      expect(Object.keys(byName).filter((name) => !(name in expected))).toEqual([]);
      const keys = world.calls
        .filter(({ path }) => byName[path.replace(/\[.*/, "")]?.status === "succeeded")
        .map(({ key }) => key);
      expect({ seed, twice: keys.filter((key, i) => keys.indexOf(key) !== i) }).toEqual({ seed, twice: [] });
      expect(new Set(world.ended).size).toBe(1);
    }
  }, 120_000);

  test("takes as long as its critical path", async () => {
    for (let seed = 1; seed <= 30; seed += 1) {
      const { steps } = randomDefinition(seed);
      const plain: Record<string, Step> = Object.fromEntries(
        Object.entries(steps).map(([name, { when: _, forEach: __, ...each }]) => [
          name,
          {
            ...each,
            cache: false,
            ...step("sum"),
            input: Object.fromEntries(Object.entries(each["input"] as object).filter(([field]) => field !== "item")),
          },
        ]),
      );
      const seconds = (name: string) => 1 + (Number.parseInt(digest(`${seed} ${name}`).slice(0, 4), 16) % 100);
      const ends: Record<string, number> = {};
      for (const [name, each] of Object.entries(plain))
        ends[name] = seconds(name) + Math.max(0, ...(each["parents"] as string[]).map((parent) => ends[parent]!));
      const { ended } = await started(
        { name: "path", steps: withoutParents(plain) },
        { call: ({ step: name }, module, input) => ({ end: compute(module, input), seconds: seconds(name) }) },
      );
      const took = (Date.parse(ended.endedAt!) - Date.parse(ended.createdAt)) / 1_000;
      expect({ seed, took }).toEqual({ seed, took: Math.max(...Object.values(ends)) });
    }
  });

  const chain = (length: number, change: Record<number, Record<string, unknown>> = {}) => ({
    name: "chain",
    steps: Object.fromEntries(
      Array.from({ length }, (_, i) => [
        `s${i}`,
        step("sum", { input: { own: i, ...(i > 0 ? { before: `\${steps.s${i - 1}.output.v}` } : {}) }, ...change[i] }),
      ]),
    ),
  });

  test("a second run computes nothing, and an edited step recomputes only itself and what its output changes", async () => {
    const { world } = await started(chain(10));
    expect(world.calls).toHaveLength(10);
    const again = await start(world, chain(10));
    await world.settle();
    expect(world.calls).toHaveLength(10);
    expect((await resultOf(world, again.pipelineRunId)).byName["s9"]!.why).toMatch(/^hit: as in run prun-/);

    // The output stays 4 + before, so nothing after it runs: early cut-off.
    const edited = chain(10, {
      4: { function: { module: "sum", sha256: digest("edited"), files: { "helper.ts": digest("new") } } },
    });
    const third = await start(world, edited);
    await world.settle();
    const { byName } = await resultOf(world, third.pipelineRunId);
    expect(world.calls.slice(10).map(({ path }) => path)).toEqual(["s4"]);
    expect(byName["s4"]!.why).toBe("miss: helper.ts was added");
    const fourth = await start(world, chain(10, { 7: { input: { own: 70, before: x("steps.s6.output.v") } } }));
    await world.settle();
    expect(world.calls.slice(11).map(({ path }) => path)).toEqual(["s7", "s8", "s9"]);
    expect((await resultOf(world, fourth.pipelineRunId)).byName["s7"]!.why).toBe("miss: input.own 7 → 70");
  });

  test("a damaged output is computed again, and the reason says so", async () => {
    const large = { output: { text: "x".repeat(40_000) }, status: "succeeded" } as const;
    const { world } = await started(chain(1), { call: () => ({ end: large }) });
    const sha256 = world.states.values().next().value!.outputSha256!;
    world.contents.delete(sha256);
    const again = await start(world, chain(1));
    await world.settle();
    expect(world.calls).toHaveLength(2);
    expect((await resultOf(world, again.pipelineRunId)).byName["s0"]!.why).toMatch(
      /^miss: its output [0-9a-f]{12} is missing or damaged/,
    );
  });

  test("a resumed run takes over nine of ten items and runs one", async () => {
    let broken = true;
    const call = ({ item }: StepReference): { end: StepEnd } => ({
      end:
        item === 3 && broken
          ? { status: "failed", failure: { code: "USER_CODE", message: "broken" } }
          : { status: "succeeded", output: item },
    });
    const definition = {
      name: "items",
      onFailure: "finish",
      steps: {
        each: step("m", { forEach: Array.from({ length: 10 }, (_, i) => i), input: { item: x("item") }, cache: false }),
      },
    };
    const { world, run, ended } = await started(definition, { call });
    expect(ended.failure?.message).toBe("1 of 10 items failed; each[3]: broken");
    broken = false;
    const resumed = await world.surely(() =>
      resumePipelineRun(world.dependencies, run.pipelineRunId, { actor, idempotencyKey: "again" }),
    );
    await world.settle();
    expect(world.calls.slice(10).map(({ path }) => path)).toEqual(["each[3]"]);
    expect((await resultOf(world, resumed.pipelineRunId)).byName["each"]!.output).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    ]);
  });

  test("a step of finally reads the failure of the run", async () => {
    const definition = {
      name: "late",
      steps: { a: step("fail") },
      finally: { report: step("sum", { input: { text: x("run.failure.step") } }) },
    };
    const { byName } = await started(definition);
    expect(byName["report"]!.input).toMatchObject({ input: { text: "a" } });
  });

  test("a cancelled run begins nothing more, runs its steps of finally, and ends cancelled", async () => {
    const world = pipelineWorld({ call: (_, module, input) => ({ end: compute(module, input), seconds: 100 }) });
    const run = await start(world, { ...chain(3), finally: { report: step("sum", { input: { own: 5 } }) } });
    await cancelPipelineRun(world.dependencies, run.pipelineRunId, "bob");
    await world.settle();
    const { ended, byName } = await resultOf(world, run.pipelineRunId);
    expect([
      ended.status,
      ended.failure?.message,
      byName["s0"]!.status,
      byName["s1"],
      byName["report"]!.status,
    ]).toEqual(["cancelled", "cancelled by bob", "cancelled", undefined, "succeeded"]);
  });

  test("a step that fails is tried again as often as it says", async () => {
    let left = 2;
    const call = (): { end: StepEnd } => ({
      end: left-- > 0 ? { status: "failed", failure: { code: "X", message: "x" } } : { status: "succeeded", output: 1 },
    });
    const { byName } = await started({ name: "retry", steps: { a: step("m", { retries: 2 }) } }, { call });
    expect([byName["a"]!.status, byName["a"]!.attempt]).toEqual(["succeeded", 3]);
  });

  test("a map of 1,000 items, a graph of 2,000 steps and a chain of 500 end with bounded rows", async () => {
    const items = {
      name: "many",
      steps: {
        make: step("list"),
        each: step("m", {
          forEach: x("steps.make.output"),
          concurrency: 100,
          input: { item: x("item") },
          cache: false,
        }),
      },
    };
    const list = Array.from({ length: 1_000 }, (_, i) => i);
    const many = await started(items, {
      call: ({ step: name, item }) => ({ end: { status: "succeeded", output: name === "make" ? list : item } }),
    });
    expect(many.byName["each"]!.map).toMatchObject({ total: 1_000, ended: 1_000, failed: 0 });
    const graph = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, i) => [
        `s${i}`,
        step("sum", { input: { own: i, ...(i >= 50 ? { before: `\${steps.s${i - 50}.output.v}` } : {}) } }),
      ]),
    );
    for (const definition of [{ name: "graph", steps: graph }, chain(500)])
      expect((await started(definition)).ended.status).toBe("succeeded");
    // A row of DynamoDB has at most 400 KB.
    expect(Math.max(...[...many.world.states.values()].map((state) => JSON.stringify(state).length))).toBeLessThan(
      40_000,
    );
    expect(stepsOf({ steps: graph, finally: {} } as never).size).toBe(2_000);
  }, 120_000);
});
