import { type Draws, drawsFor } from "../../../core/tuning/draws";
import { type PlannedStudy, plan } from "../../../core/tuning/planner";
import type { SchedulerTrial } from "../../../core/tuning/scheduler";
import { applied, type SimulatedStudy } from "./simulated-study";

/** A trial as the model's store keeps it. */
export interface StoredTrial extends SchedulerTrial {
  /** Number of times that the trial was resumed. */
  readonly segment?: number;
  readonly dollars?: number;
}

interface StoredStudy {
  readonly revision: number;
  readonly trials: readonly StoredTrial[];
  readonly reason?: string;
}

/** A run of the model's trainer. An epoch costs one dollar, also if a lost worker trains it again. */
interface ModelRun {
  readonly trial: number;
  segment: number;
  until: number;
  params: SchedulerTrial["params"];
  reports: { readonly epoch: number; readonly value: number }[];
  epoch: number;
  dollars: number;
  state: "working" | "paused" | "completed" | "failed";
}

/** What a driver does to the platform. Each call may be the last one of its process. */
interface DriverPorts {
  load(): Promise<StoredStudy>;
  /** Returns false if another driver has written since. */
  save(study: StoredStudy): Promise<boolean>;
  find(trial: number): Promise<Readonly<ModelRun> | undefined>;
  /** Starts a run, or the next segment of one. Idempotent by trial and segment. */
  start(trial: StoredTrial): Promise<void>;
}

export interface ModelOptions extends Pick<SimulatedStudy, "definition" | "curve"> {
  readonly seed: number;
  /** Probability that a step kills a driver or a worker, and that an event is lost or arrives twice. */
  readonly faults: number;
}

export interface ModelResult {
  readonly trials: readonly StoredTrial[];
  readonly reason: string;
  readonly runs: number;
  readonly mostWorking: number;
  readonly kills: number;
}

class Killed extends Error {}

/**
 * Runs a study on a model of the platform: drivers that run at the same time, one per event, and die between any two
 * calls, before or after the call has had its effect; events that are lost, late or delivered twice; a sweep; and workers
 * that die and continue from a checkpoint.
 */
export async function runOnModel({ definition, curve, seed, faults }: ModelOptions): Promise<ModelResult> {
  const draws = drawsFor(seed);
  const platform = createPlatform(definition, curve, draws);
  const calls: { release: () => void; kill: () => void }[] = [];
  const atCall = <T>(effect: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      const die = () => reject(new Killed());
      calls.push({
        release: () => resolve(effect()),
        kill: () => {
          if (draws.uniform() < 0.5) effect();
          die();
        },
      });
    });
  const ports: DriverPorts = {
    load: () => atCall(platform.load),
    save: (study) => atCall(() => platform.save(study)),
    find: (trial) => atCall(() => platform.find(trial)),
    start: (trial) => atCall(() => platform.start(trial)),
  };
  const failures: unknown[] = [];
  const invoke = () =>
    void drive(ports, definition).catch((error: unknown) => error instanceof Killed || failures.push(error));
  let events = 1;
  let kills = 0;
  let mostWorking = 0;
  for (let step = 0; platform.load().reason === undefined; step++) {
    if (step > 100_000) throw new Error("the study does not end");
    const isFaulty = draws.uniform() < faults;
    const working = platform.working();
    mostWorking = Math.max(mostWorking, working.length);
    const choice = draws.index(4);
    if (calls.length > 0 && choice <= 1) {
      const [call] = calls.splice(draws.index(calls.length), 1);
      if (isFaulty) kills++;
      isFaulty ? call!.kill() : call!.release();
    } else if (working.length > 0 && choice === 2) {
      const run = working[draws.index(working.length)]!;
      if (isFaulty) {
        kills++;
        platform.loseWorker(run);
      } else if (platform.train(run)) events += isFaulty ? draws.index(3) : 1;
    } else if (events > 0 && calls.length < 12) {
      events--;
      invoke();
    } else if (calls.length === 0 && working.length === 0) {
      invoke(); // the sweep
    }
    await new Promise(setImmediate);
    if (failures.length > 0) throw failures[0];
  }
  const { trials, reason = "" } = platform.load();
  return { trials, reason, runs: platform.count(), mostWorking, kills };
}

function createPlatform(definition: PlannedStudy["definition"], curve: SimulatedStudy["curve"], draws: Draws) {
  let stored: StoredStudy = { revision: 0, trials: [] };
  const runs = new Map<number, ModelRun>();
  return {
    load: () => stored,
    save(study: StoredStudy): boolean {
      if (study.revision !== stored.revision + 1) return false;
      const begun = study.trials.filter(
        ({ state }, at) => state === "running" && stored.trials[at]?.state !== "running",
      );
      const spent = study.trials.reduce((sum, { dollars = 0 }) => sum + dollars, 0);
      // Only the trials that ran when the limit was reached may exceed it.
      if (begun.length > 0 && spent >= (definition.stop.dollars ?? Infinity)) throw new Error(`begun after $${spent}`);
      stored = study;
      return true;
    },
    find: (trial: number) => structuredClone(runs.get(trial)),
    start({ number, until, params, from, segment = 0 }: StoredTrial): void {
      const known = runs.get(number);
      if (known && known.segment >= segment) return;
      const epoch = from && from.epoch > (known?.epoch ?? 0) ? from.epoch : (known?.epoch ?? 0);
      const [reports, dollars] = [known?.reports ?? [], known?.dollars ?? 0];
      runs.set(number, { trial: number, segment, until, params, epoch, reports, dollars, state: "working" });
    },
    working: () => [...runs.values()].filter(({ state }) => state === "working"),
    /** Trains an epoch. Returns whether the segment has ended, which publishes an event. */
    train(run: ModelRun): boolean {
      const epoch = ++run.epoch;
      run.dollars++;
      const value = curve(run.params, epoch, run.trial);
      if (value === undefined) run.state = "failed";
      else {
        run.reports.push({ epoch, value });
        if (epoch === run.until) run.state = epoch === definition.maxEpochs ? "completed" : "paused";
      }
      return run.state !== "working";
    },
    loseWorker(run: ModelRun): void {
      const lost = run.reports.length > 0 && run.reports.at(-1)!.epoch === run.epoch ? draws.index(2) : 0;
      const known = stored.trials.find(({ number }) => number === run.trial)!;
      if (lost === 0 || known.reports.length >= run.reports.length) return;
      run.reports.pop();
      run.epoch--;
    },
    count: () => runs.size,
  };
}

/** Drives the study as `driveStudy` does: writes a decision on the condition that nothing has changed, then acts. */
async function drive(ports: DriverPorts, definition: PlannedStudy["definition"]): Promise<void> {
  for (;;) {
    const before = await ports.load();
    if (before.reason !== undefined) return;
    const observed: StoredTrial[] = [];
    for (const trial of before.trials) {
      const { number, state, segment = 0 } = trial;
      const run = state === "running" ? await ports.find(number) : undefined;
      const isStarted = run !== undefined && run.segment >= segment;
      if (state === "running" && !isStarted) await ports.start(trial);
      if (!isStarted || run.state === "working") observed.push(trial);
      else {
        const values = run.state === "completed" ? { values: [run.reports.at(-1)!.value] } : {};
        observed.push({ ...trial, state: run.state, reports: run.reports, dollars: run.dollars, ...values });
      }
    }
    const dollars = observed.reduce((sum, trial) => sum + (trial.dollars ?? 0), 0);
    const decided = plan({ definition, warmStart: [], trials: observed, hours: 0, dollars });
    const trials = applied(observed, decided).map((trial, at): StoredTrial => {
      const known = observed[at];
      return known && trial.state === "running" && known.state !== "running"
        ? { ...trial, segment: (known.segment ?? 0) + 1 }
        : trial;
    });
    const reason = decided.finished?.reason;
    const isSame = trials.length === observed.length && trials.every((trial, at) => trial === before.trials[at]);
    if (isSame && reason === undefined) return;
    const study = { revision: before.revision + 1, trials, ...(reason === undefined ? {} : { reason }) };
    if (!(await ports.save(study)) || reason !== undefined) continue;
  }
}
