import { createHash } from "node:crypto";
import { ObjectNotFoundError } from "../../../core/object-documents";
import { beginStep } from "../../../core/pipelines/begin-step";
import { kindOf } from "../../../core/pipelines/definition";
import { endStep, type StepEnd } from "../../../core/pipelines/end-step";
import { type Plan, stepsOf } from "../../../core/pipelines/plan";
import type { CacheEntry, PipelineRepository, StepDependencies, Wait } from "../../../core/pipelines/ports";
import {
  type PipelineRun,
  type PipelineVersion,
  pathOf,
  type StepReference,
  type StepState,
} from "../../../core/pipelines/records";
import { sweepPipelines } from "../../../core/pipelines/sweep";

const keyOfStep = (id: string, { step, item }: Pick<StepReference, "step" | "item">) => `${id} ${step} ${item ?? ""}`;
const page = <Item>(items: readonly Item[]) => Promise.resolve({ items });
const equal = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** A repository in memory, with the conditions that DynamoDB's one writes. */
export function memoryPipelines() {
  const versions = new Map<string, PipelineVersion[]>();
  const runs = new Map<string, PipelineRun>();
  const open = new Set<string>();
  const states = new Map<string, StepState>();
  const cache = new Map<string, CacheEntry>();
  const waits = new Map<string, Wait>();
  const last = new Map<string, { pipelineRunId: string; parts: Record<string, string> }>();
  const repository: PipelineRepository = {
    async putVersion(version) {
      const all = versions.get(version.name) ?? [];
      if (all.length !== version.version - 1) return false;
      versions.set(version.name, [...all, version]);
      return true;
    },
    findVersion: async (name, version) =>
      version === undefined ? versions.get(name)?.at(-1) : versions.get(name)?.[version - 1],
    listVersions: () => page([...versions.values()].map((all) => all.at(-1)!)),
    async createRun(run) {
      const created = !runs.has(run.pipelineRunId);
      if (created) {
        runs.set(run.pipelineRunId, run);
        open.add(run.pipelineRunId);
      }
      return { created, run: runs.get(run.pipelineRunId)! };
    },
    findRun: async (id) => runs.get(id),
    listRuns: () => page([...runs.values()]),
    async updateRun(id, change) {
      const run = runs.get(id)!;
      if (run.status !== "running" || ("stopping" in change && run.stopping)) return false;
      runs.set(id, { ...run, ...change });
      return true;
    },
    delistRun: async (id) => void open.delete(id),
    steps: async (id) =>
      [...states].filter(([key, { item }]) => key.startsWith(`${id} `) && item === undefined).map(([, state]) => state),
    statuses: async (id) => new Map((await repository.steps(id)).map(({ step, status }) => [step, status])),
    findStep: async (reference) => states.get(keyOfStep(reference.pipelineRunId, reference)),
    items: (id, step) =>
      page(
        [...states]
          .filter(([key, { item }]) => key.startsWith(`${id} ${step} `) && item !== undefined)
          .map(([, state]) => state)
          .sort((a, b) => a.item! - b.item!),
      ),
    async createStep(id, state) {
      if (states.has(keyOfStep(id, state))) return false;
      states.set(keyOfStep(id, state), state);
      return true;
    },
    async updateStep(id, state, attempt) {
      const key = keyOfStep(id, state);
      const before = states.get(key);
      if (before?.status !== "running" || before.attempt !== attempt) return false;
      states.set(key, before.map ? { ...state, map: before.map } : state);
      const whole = keyOfStep(id, { step: state.step });
      const map = states.get(whole)?.map;
      if (state.item !== undefined && state.status !== "running" && map)
        states.set(whole, {
          ...states.get(whole)!,
          map: { ...map, ended: map.ended + 1, failed: map.failed + (state.status === "succeeded" ? 0 : 1) },
        });
      return true;
    },
    async claimItem(id, step) {
      const state = states.get(keyOfStep(id, { step }))!;
      states.set(keyOfStep(id, { step }), { ...state, map: { ...state.map!, next: state.map!.next + 1 } });
      return state.map!.next;
    },
    findCached: async (key) => cache.get(key),
    async putCached(key, entry, before) {
      if (!equal(cache.get(key), before)) return false;
      if (entry) cache.set(key, entry);
      else cache.delete(key);
      return true;
    },
    lastKey: async (pipeline, step) => last.get(`${pipeline} ${step}`),
    putLastKey: async (pipeline, step, key) => void last.set(`${pipeline} ${step}`, key),
    putWait: async (wait) => void waits.set(`${wait.kind} ${wait.id}`, wait),
    findWait: async (kind, id) => waits.get(`${kind} ${id}`),
    deleteWait: async (kind, id) => void waits.delete(`${kind} ${id}`),
  };
  return { repository, open, states, runs, cache, waits };
}

function firstOf(events: readonly { readonly at: number }[]): number {
  let first = 0;
  for (let i = 1; i < events.length; i += 1) if (events[i]!.at < events[first]!.at) first = i;
  return first;
}

/** A process that died. Its caller starts it again, as Step Functions does. */
class Death extends Error {}

export interface WorldOptions {
  /** In [0, 1). */
  readonly random?: () => number;
  /** Probability that a process dies at a call of a port, before or after its effect. */
  readonly deaths?: number;
  /** Probability that an event arrives twice. */
  readonly duplicates?: number;
  /** Result of a function, and its seconds. */
  readonly call: (
    reference: StepReference,
    module: string,
    input: Record<string, unknown>,
  ) => { readonly end: StepEnd; readonly seconds?: number };
}

type Event = () => Promise<void>;

/** The platform around the engine with a virtual clock: executions, functions, deaths of processes, repeated events. */
export function pipelineWorld({ random = Math.random, deaths = 0, duplicates = 0, call }: WorldOptions) {
  const memory = memoryPipelines();
  const contents = new Map<string, string>();
  const events: { at: number; run: Event }[] = [];
  const executions = new Map<string, string>();
  const calls: { readonly path: string; readonly key: string }[] = [];
  const ended: string[] = [];
  const world = { now: Date.parse("2026-01-01T00:00:00Z"), begins: 0 };
  const isoNow = () => world.now;

  const mortal = <T extends object>(port: T): T =>
    new Proxy(port, {
      get: (target, name) => {
        const method = (target as Record<string | symbol, unknown>)[name];
        if (typeof method !== "function") return method;
        return async (...args: unknown[]) => {
          if (random() < deaths) throw new Death();
          const result = await (method as (...all: unknown[]) => unknown).apply(target, args);
          if (random() < deaths) throw new Death();
          return result;
        };
      },
    });

  /** Repeats work until no process dies, and sometimes once more. */
  async function surely<Result>(work: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        const result = await work();
        return random() < duplicates ? await work() : result;
      } catch (error) {
        if (!(error instanceof Death)) throw error;
      }
    }
  }
  const at = (seconds: number, run: Event) => events.push({ at: world.now + seconds * 1_000, run });

  const dependencies: StepDependencies = {
    team: "default",
    pipelines: mortal(memory.repository),
    objects: mortal({
      async getContent(sha256: string) {
        const text = contents.get(sha256);
        if (text === undefined) throw new ObjectNotFoundError(sha256);
        return new TextEncoder().encode(text);
      },
      async putContent(body: Uint8Array | string) {
        const sha256 = createHash("sha256").update(body).digest("hex");
        contents.set(sha256, String(body));
        return { sha256, bytes: Buffer.byteLength(body) };
      },
      hasContent: async ({ sha256 }: { sha256: string }) => contents.has(sha256),
    }),
    executions: mortal({
      async startStep(_team: string, reference: StepReference) {
        const name = JSON.stringify(reference);
        if (executions.has(name)) return;
        executions.set(name, "running");
        at(0, () => begin(reference, name, 0));
      },
      stopStep: async (_team: string, reference: StepReference) =>
        void executions.set(JSON.stringify(reference), "aborted"),
      stepStatus: async (_team: string, reference: StepReference) =>
        executions.get(JSON.stringify(reference)) as "running" | undefined,
    }),
    runEvents: { publishPipelineEnded: async ({ id }) => void ended.push(id) },
    clock: { now: isoNow },
    logger: { log: () => undefined } as never,
    randomId: () => createHash("sha256").update(String(random())).digest("hex"),
    cancelTraining: async () => undefined,
    cancelPipeline: async () => undefined,
    submit: { datasets: {} } as never,
    tokens: {} as never,
  };

  async function begin(reference: StepReference, name: string, polls: number): Promise<void> {
    if (executions.get(name) !== "running") return;
    world.begins += 1;
    const move = await surely(() => beginStep(dependencies, reference, polls));
    if (move.next === "done") return void executions.set(name, "succeeded");
    if (move.next === "poll") return void at(move.seconds, () => begin(reference, name, polls + 1));
    const state = memory.states.get(keyOfStep(reference.pipelineRunId, reference))!;
    const run = memory.runs.get(reference.pipelineRunId)!;
    const plan = JSON.parse(contents.get(run.planSha256)!) as Plan;
    const definition = stepsOf(plan).get(reference.step)!;
    if (kindOf(definition) !== "function") throw new Error("the world has only functions");
    calls.push({ path: pathOf(reference), key: state.key ?? `${pathOf(reference)} without cache` });
    const { end, seconds = 0 } = call(
      reference,
      (definition.function as { module: string }).module,
      move.resolved["input"] as Record<string, unknown>,
    );
    at(seconds, async () => {
      if (executions.get(name) !== "running") return;
      const { retryAfter } = await surely(() => endStep(dependencies, reference, end, move.attempt));
      if (retryAfter !== undefined) at(retryAfter, () => begin(reference, name, 0));
      else executions.set(name, "succeeded");
    });
  }

  const index = {
    openRuns: async () => [...memory.open].map((id) => ({ team: "default", id })),
    waits: async () => [],
  };
  return {
    ...memory,
    dependencies,
    surely,
    contents,
    calls,
    ended,
    world,
    /** Lets time pass until all runs have ended; where nothing happens any more, the sweep of each minute repairs. */
    async settle(sweeps = 50): Promise<void> {
      for (let sweep = 0; sweep <= sweeps; sweep += 1) {
        while (events.length > 0) {
          const event = events.splice(firstOf(events), 1)[0]!;
          world.now = Math.max(world.now, event.at);
          await event.run();
        }
        if (memory.open.size === 0) return;
        world.now += 61_000;
        await surely(() => sweepPipelines(index, () => dependencies));
      }
      throw new Error(`runs do not end: ${JSON.stringify([...memory.states])}`);
    },
  };
}
