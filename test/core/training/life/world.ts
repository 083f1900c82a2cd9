import type { Measures } from "../../../../core/metering/metrics";
import type { ObjectStore } from "../../../../core/ports";
import type { Model, ModelVersion } from "../../../../core/registry/model";
import { createRegistry, type Registry } from "../../../../core/registry/registry";
import type { ModelRepository } from "../../../../core/registry/repository";
import type { CachedOutput } from "../../../../core/runs/run-repository";
import type { ReconcileDependencies } from "../../../../core/training/reconcile";
import type { RunEnded } from "../../../../core/training/run-ended";
import type { ModelBatch } from "./batch";
import { createMemoryRuns } from "./memory-runs";
import type { Actor } from "./schedule";
import type { ModelExecution } from "./states";

/** The ports of every function of a run's life. */
export type Ports = ReconcileDependencies & { readonly registry: Registry };

export interface Services {
  readonly now: () => number;
  readonly batch: () => ModelBatch;
  readonly execution: () => ModelExecution | undefined;
  readonly startExecution: () => void;
}

/** The shared state of all processes. Every call of a process waits for its turn. */
export class World {
  readonly runs = createMemoryRuns();
  readonly objects = new Map<string, string>();
  readonly measured: Measures[] = [];
  /** Events that EventBridge accepted. */
  readonly ends: RunEnded[] = [];
  private readonly cached = new Map<string, CachedOutput>();
  readonly models = createMemoryModels();

  constructor(private readonly services: Services) {}

  portsFor(actor: Actor): Ports {
    const { now, batch, execution, startExecution } = this.services;
    const { objects, cached } = this;
    const gated = <T extends object>(name: string, target: T): T =>
      new Proxy(target, {
        get:
          (of, method) =>
          async (...given: unknown[]) => {
            await actor.gate(`${name}.${String(method)}`);
            return (of as Record<string | symbol, (...all: unknown[]) => unknown>)[method]!(...given);
          },
      });
    const encode = (body: string | undefined) => (body === undefined ? undefined : new TextEncoder().encode(body));
    return {
      clock: { now },
      runs: gated("runs", this.runs),
      meter: { emit: (measures) => void this.measured.push(measures) },
      runEvents: gated("events", {
        publishRunEnded: async (event: RunEnded) => void this.ends.push(event),
        publishRunPaused: async () => undefined,
      }),
      cache: gated("cache", {
        find: async (step: string, hash: string) => cached.get(`${step}#${hash}`),
        async keep(step: string, hash: string, output: CachedOutput) {
          cached.set(`${step}#${hash}`, cached.get(`${step}#${hash}`) ?? output);
          return cached.get(`${step}#${hash}`)!;
        },
      }),
      objects: gated("objects", {
        find: async (key: string) => encode(objects.get(key)),
        async putNew(key: string, body: string) {
          if (objects.has(key)) return false;
          objects.set(key, body);
          return true;
        },
        copyContent: async () => true,
      }) as unknown as ObjectStore,
      registry: createRegistry(gated("models", this.models)),
      executions: gated("executions", {
        start: async () => startExecution(),
        stop: async () => execution()?.stop(),
        status: async () => execution()?.status,
      }),
      tokens: gated("tokens", {
        succeed: async (token: string) => execution()?.answer(token),
        fail: async (token: string, error: string, cause: string) =>
          execution()?.answer(token, { Error: error, Cause: cause }),
        heartbeat: async (token: string) => execution()?.heartbeat(token),
      }),
      jobs: gated("jobs", {
        find: async (request: Parameters<ModelBatch["find"]>[0]) => batch().find(request),
        submit: async (request: Parameters<ModelBatch["submit"]>[0]) => batch().submit(request),
        describe: async (jobId: string) => batch().describe(jobId),
        terminate: async (jobId: string) => batch().terminate(jobId),
        definitions: async () => ({ single: "trainer:1", gang: "trainer-gang:1" }),
        spans: async (jobId: string) => [{ memberId: `${jobId}/1`, startedAt: now() - 1_000, stoppedAt: now() }],
      }),
    };
  }
}

/** A registry's rows in memory, under the condition on the revision. */
function createMemoryModels(): ModelRepository & { readonly versions: ReadonlyMap<string, ModelVersion> } {
  const heads = new Map<string, Model>();
  const versions = new Map<string, ModelVersion>();
  const requests = new Map<string, number>();
  return {
    versions,
    find: async (name) => heads.get(name),
    findVersion: async (name, version) => versions.get(`${name}@${version}`),
    findVersionOfRun: async (name, runId) =>
      [...versions.values()].find((one) => one.model === name && one.runId === runId)?.version,
    findRequest: async (_name, request) => requests.get(request),
    findSemver: async () => undefined,
    findHistory: async () => undefined,
    policies: async () => [],
    findEvent: async () => undefined,
    removeEvent: async () => undefined,
    list: async () => [...heads.values()],
    listVersions: async (name) => [...versions.values()].filter(({ model }) => model === name),
    history: async () => [],
    historyBetween: async () => [],
    async commit({ model, versions: changed }, { runId, request } = {}) {
      if (runId !== undefined && [...versions.values()].some((one) => one.runId === runId)) return false;
      if (request !== undefined && requests.has(request)) return false;
      if ((heads.get(model.name)?.revision ?? 0) !== model.revision - 1) return false;
      heads.set(model.name, model);
      if (request !== undefined) requests.set(request, model.revision);
      for (const version of changed) versions.set(`${model.name}@${version.version}`, version);
      return true;
    },
    commitRename: () => Promise.reject(new Error("no run renames a model")),
  };
}
