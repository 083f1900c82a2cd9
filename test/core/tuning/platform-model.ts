import type { DatasetRepository } from "../../../core/datasets/repository";
import { hasCode } from "../../../core/errors";
import type { Run } from "../../../core/runs/shapes";
import { type DriveDependencies, driveStudy } from "../../../core/tuning/drive";
import type { StudyState } from "../../../core/tuning/ports";
import { type Draws, drawsFor } from "../../../core/tuning/samplers/sampler";
import type { Study, Trial } from "../../../core/tuning/shapes";
import type { StudyDefinition } from "../../../core/tuning/study";
import type { SimulatedStudy } from "./simulated-study";

export interface ModelOptions extends Pick<SimulatedStudy, "curve"> {
  readonly definition: StudyDefinition;
  readonly seed: number;
  /** Probability that a step kills a driver or a worker, and that an event is lost or arrives twice. */
  readonly faults: number;
}

export interface ModelResult {
  readonly study: Study;
  readonly trials: readonly Trial[];
  readonly runs: number;
  readonly maxAtWork: number;
  readonly kills: number;
}

/** A run of the model's trainer. An epoch costs one dollar, also if it is trained again after a lost worker. */
interface ModelRun {
  run: Run;
  epoch: number;
  values: number[];
  dollars: number;
}

class Killed extends Error {}

const startedAt = "2026-01-01T00:00:00.000Z";
const metric = "validation/loss";
const maxSteps = 100_000;
const maxCalls = 24;

/**
 * Runs a study with the real driver on a model of the platform: drivers that run at the same time, one per event, and
 * die between any two calls, before or after the call has had its effect; events that are lost, late or delivered twice;
 * a sweep and a reconciler; and workers that die and continue from a checkpoint.
 */
export async function runOnModel({ definition, curve, seed, faults }: ModelOptions): Promise<ModelResult> {
  const draws = drawsFor(seed);
  const platform = createPlatform(definition, curve, draws);
  const calls: { readonly release: () => void; readonly kill: () => void }[] = [];
  const atCall = <T>(effect: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      calls.push({
        release() {
          try {
            resolve(effect());
          } catch (error) {
            reject(error);
          }
        },
        kill() {
          if (draws.uniform() < 0.5) effect();
          reject(new Killed());
        },
      });
    });
  const failures: unknown[] = [];
  const invoke = () =>
    void driveStudy(platform.dependencies(atCall), definition.name).catch((error: unknown) => {
      if (!(error instanceof Killed || hasCode(error, "STUDY_BUSY"))) failures.push(error);
    });
  let [events, kills, maxAtWork] = [1, 0, 0];
  for (let step = 0; platform.study().endedAt === undefined; step++) {
    if (step > maxSteps) throw new Error("the study does not end");
    const isFaulty = draws.uniform() < faults;
    const open = platform.open();
    maxAtWork = Math.max(maxAtWork, open.length);
    const choice = draws.index(4);
    if (calls.length > 0 && choice <= 1) {
      const call = calls.splice(draws.index(calls.length), 1)[0]!;
      if (isFaulty) kills++;
      isFaulty ? call.kill() : call.release();
    } else if (open.length > 0 && choice === 2) {
      const one = open[draws.index(open.length)]!;
      if (one.run.status === "queued") platform.begin(one.run);
      else if (isFaulty && platform.loseWorker(one)) kills++;
      else if (platform.train(one)) events += isFaulty ? draws.index(3) : 1;
    } else if (events > 0 && calls.length < maxCalls) {
      events--;
      invoke();
    } else if (calls.length === 0 && open.length === 0) {
      invoke(); // the sweep
    }
    await new Promise(setImmediate);
    if (failures.length > 0) throw failures[0];
  }
  return { study: platform.study(), trials: platform.trials(), runs: platform.count(), maxAtWork, kills };
}

function createPlatform(definition: StudyDefinition, curve: SimulatedStudy["curve"], draws: Draws) {
  let stored: StudyState = { study: newStudy(definition), trials: [] };
  const runs = new Map<string, ModelRun>();
  const { epochs } = definition.job.hyperparameters;
  const begin = ({ runId }: Run): void => {
    const one = runs.get(runId)!;
    if (one.run.status === "queued") one.run = { ...one.run, status: "running" };
  };

  function save(study: Study, changes: readonly Trial[]): boolean {
    if (study.revision !== stored.study.revision + 1) return false;
    const known = new Map(stored.trials.map((trial) => [trial.number, trial]));
    const begun = changes.filter(({ number, state }) => state === "running" && known.get(number)?.state !== "running");
    for (const trial of changes) known.set(trial.number, trial);
    const trials = [...known.values()].sort((a, b) => a.number - b.number);
    const spent = trials.reduce((sum, { dollars = 0 }) => sum + dollars, 0);
    // Only the trials that ran when the limit was reached may exceed it.
    if (begun.length > 0 && spent >= (definition.stop.dollars ?? Infinity)) throw new Error(`begun after $${spent}`);
    stored = { study, trials };
    return true;
  }

  function train(one: ModelRun): boolean {
    const { number } = one.run.trial!;
    one.dollars++;
    const value = curve(stored.trials[number]!.params, one.epoch + 1, number);
    if (value === undefined) one.run = { ...one.run, status: "failed" };
    else {
      one.epoch++;
      one.values.push(value);
      if (one.epoch === (one.run.pauseAt ?? epochs)) {
        one.run = { ...one.run, status: one.epoch === epochs ? "completed" : "paused" };
      }
    }
    return one.run.status !== "running";
  }

  return {
    study: () => stored.study,
    trials: () => stored.trials,
    count: () => runs.size,
    open: () => [...runs.values()].filter(({ run }) => run.status === "queued" || run.status === "running"),
    begin,
    train,
    /** Returns whether an epoch was lost. */
    loseWorker(one: ModelRun): boolean {
      const finished = stored.trials[one.run.trial!.number]!.reports.length;
      if (one.epoch <= finished || draws.index(2) === 0) return false;
      one.values.pop();
      one.epoch--;
      return true;
    },
    dependencies(atCall: <T>(effect: () => T) => Promise<T>): DriveDependencies {
      const datasets: Partial<DatasetRepository> = { findActive: async () => ({ manifest }) as never };
      const dependencies = {
        team: "team",
        clock: { now: () => Date.parse(startedAt) },
        randomId: () => "unused",
        pause: () => atCall(() => {}),
        studies: {
          load: () => atCall(() => stored),
          save: (study: Study, changes: readonly Trial[]) => atCall(() => save(study, changes)),
        },
        records: { change: () => atCall(() => undefined) },
        objects: {},
        datasets,
        executions: { start: (run: Run) => atCall(() => begin(run)) },
        runs: {
          find: (runId: string) => atCall(() => runs.get(runId)?.run),
          findDetails: (runId: string) =>
            atCall(() => ({ attempts: [{ usage: { workerSeconds: 1, estimatedUsd: runs.get(runId)!.dollars } }] })),
          recordWarning: () => atCall(() => {}),
          create: (run: Run) =>
            atCall(() => {
              const known = runs.get(run.runId);
              if (known === undefined) runs.set(run.runId, { run, epoch: 0, values: [], dollars: 0 });
              return { created: known === undefined, run: known?.run ?? run };
            }),
          resume: (runId: string, { after, pauseAt }: { readonly after: number; readonly pauseAt?: number }) =>
            atCall(() => {
              const one = runs.get(runId)!;
              const { pauseAt: _, ...run } = one.run;
              if (run.status !== "paused" || (run.segment ?? 0) !== after) return false;
              one.run = { ...run, status: "queued", segment: after + 1, ...(pauseAt === undefined ? {} : { pauseAt }) };
              return true;
            }),
        },
        metrics: {
          read: (runId: string) =>
            atCall(() => runs.get(runId)!.values.map((value, at) => ({ step: (at + 1) * 10, value }))),
          summaries: (runId: string) => atCall(() => [{ metric, last: runs.get(runId)!.values.at(-1) }]),
        },
      };
      return dependencies as unknown as DriveDependencies;
    },
  };
}

const manifest = {
  ...{ name: "digits", version: 1, digest: "d" },
  schema: [
    { name: "x", type: "float", role: "feature" },
    { name: "y", type: "int", role: "label" },
  ],
  split: { indexes: { train: { rows: 10_000 } } },
};

function newStudy(definition: StudyDefinition): Study {
  return {
    ...{ name: definition.name, team: "team", definition, status: "running", revision: 1, parentRunId: "parent" },
    ...{ best: [], extensions: 0, warmTrials: 0, createdBy: "test" },
    ...{ startedAt, createdAt: startedAt, updatedAt: startedAt },
  };
}
