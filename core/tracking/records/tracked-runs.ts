import { BoundedMap } from "../../bounded-map";
import type { Clock } from "../../ports";
import type { AllRuns, RunPhases, RunSteps } from "../../runs/run-repository";
import type { MachineRecord, Run } from "../../runs/shapes";
import type { Artifacts } from "../artifacts";
import type { Experiments } from "../experiments";
import type { RunChanges, RunRecords } from "../run-records";
import type { RunIdentity, RunRecord } from "../shapes";
import { folderOf, producedArtifacts } from "./artifact-paths";
import { experimentDeleted } from "./errors";
import { type FirstRecord, keptAtFirst } from "./training-record";

/** Ports for marks: the identity of a run, and its marks. */
interface MarkPorts {
  readonly identities: { identify(runId: string): Promise<RunIdentity | undefined> };
  readonly changes: Pick<RunChanges, "mark">;
}

/** Writes within two marks: the first for a process that dies after the write, the second for a reader between the two. */
async function marked<T>({ identities, changes }: MarkPorts, runId: string, write: () => Promise<T>): Promise<T> {
  const identity = await identities.identify(runId);
  if (!identity) return write();
  await changes.mark(identity);
  const written = await write();
  await changes.mark(identity);
  return written;
}

/** Marks each change of a run's phase. */
export function trackedPhases(all: RunPhases, ports: MarkPorts): RunPhases {
  return {
    ...all,
    goBack: (runId, from, to, at) => marked(ports, runId, () => all.goBack(runId, from, to, at)),
    enterPhase: (runId, phase, at) => marked(ports, runId, () => all.enterPhase(runId, phase, at)),
  };
}

/** Ports for the tracking of training runs. */
interface TrainingTracking extends MarkPorts {
  /** Idempotent. */
  readonly records: { addInstanceType(run: RunIdentity, instanceType: string): Promise<void> };
  readonly experiments: Pick<Experiments, "ensure">;
  readonly artifacts: Pick<Artifacts, "putProduced">;
}

/** Marks each change of a run's steps, and names the artifacts that a step produced. */
export function trackedSteps(all: RunSteps, ports: MarkPorts & Pick<TrainingTracking, "artifacts">): RunSteps {
  return {
    ...trackedPhases(all, ports),
    recordStep: (runId, record) =>
      marked(ports, runId, async () => {
        // Before the step's record: a process that dies between the two writes repeats the end of the step.
        const [identity, made] = [await ports.identities.identify(runId), producedArtifacts(record)];
        if (identity && made.length > 0) await ports.artifacts.putProduced(runId, made, folderOf(identity));
        await all.recordStep(runId, record);
      }),
  };
}

/** Creates the run's experiment if there is none. `deleted`: the experiment is deleted. */
export async function firstRecordOf(
  experiments: Pick<Experiments, "ensure">,
  run: Run,
): Promise<FirstRecord & { readonly deleted: boolean }> {
  const { runId, team, job, createdBy, createdAt } = run;
  const experiment = await experiments.ensure(job.experiment, createdBy, createdAt);
  const { experimentId, lifecycle, artifactLocation } = experiment;
  return {
    identity: { runId, team, experimentId, source: "training" },
    kept: keptAtFirst(run, artifactLocation),
    deleted: lifecycle === "deleted",
  };
}

/**
 * Wraps runs so that their records follow: each run is created with its record, and each change that the record shows
 * is marked.
 */
export function trackedRuns(all: AllRuns<FirstRecord>, tracking: TrainingTracking): AllRuns {
  async function addMachine(runId: string, { instanceType }: MachineRecord): Promise<void> {
    const identity = await tracking.identities.identify(runId);
    if (identity) await tracking.records.addInstanceType(identity, instanceType);
  }

  return {
    ...all,
    ...trackedSteps(all, tracking),
    async create(run) {
      const first = await firstRecordOf(tracking.experiments, run);
      if (first.deleted) {
        // A request from before the experiment's deletion has the same answer as before.
        const known = await all.find(run.runId);
        if (known) return { created: false, run: known };
        throw experimentDeleted(first.identity.experimentId, run.job.experiment);
      }
      await tracking.changes.mark(first.identity);
      const created = await all.create(run, first);
      await tracking.changes.mark(first.identity);
      return created;
    },
    beginAttempt: (runId, attempt) => marked(tracking, runId, () => all.beginAttempt(runId, attempt)),
    leaveQueue: (runId, at) => marked(tracking, runId, () => all.leaveQueue(runId, at)),
    pause: (runId, pause) => marked(tracking, runId, () => all.pause(runId, pause)),
    resume: (runId, resumption) => marked(tracking, runId, () => all.resume(runId, resumption)),
    close: (runId, conclusion) => marked(tracking, runId, () => all.close(runId, conclusion)),
    async recordMachine(runId, machine) {
      await addMachine(runId, machine);
      await all.recordMachine(runId, machine);
    },
  };
}

/** Runs that were active recently. A request that logs to such a run need not read it. */
interface LiveRuns {
  /** Returns whether this process found the run active within the last second and has not deleted it since. */
  isLive(runId: string): boolean;
  note(record: Pick<RunRecord, "runId" | "lifecycle">): void;
}

/** Time for which another process's deletion may be missed. */
const trustedMs = 1_000;
const maxRemembered = 50_000;

export function createLiveRuns(clock: Clock): LiveRuns {
  const until = new BoundedMap<string, number>(maxRemembered);
  return {
    isLive: (runId) => (until.get(runId) ?? 0) > clock.now(),
    note({ runId, lifecycle }) {
      if (lifecycle !== "active") {
        until.delete(runId);
        return;
      }
      until.set(runId, clock.now() + trustedMs);
    },
  };
}

/** Wraps records so that runs that are found or changed through them are noted as active. */
export function noteLiveRuns(records: RunRecords, live: LiveRuns): RunRecords {
  return {
    ...records,
    async create(record, options) {
      const answer = await records.create(record, options);
      live.note(answer.record);
      return answer;
    },
    async find(runId) {
      const record = await records.find(runId);
      if (record) live.note(record);
      return record;
    },
    async change(runId, transition) {
      const record = await records.change(runId, transition);
      live.note(record);
      return record;
    },
  };
}
