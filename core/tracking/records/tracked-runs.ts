import type { AllRuns, RunPhases, RunSteps } from "../../runs/run-repository";
import type { MachineRecord, Run } from "../../runs/shapes";
import type { Artifacts } from "../artifacts";
import type { Experiments } from "../experiments";
import type { RunChanges } from "../run-records";
import type { RunIdentity } from "../shapes";
import { folderOf } from "./artifact-paths";
import { ExperimentDeletedError } from "./errors";
import { producedArtifacts } from "./produced";
import { type FirstRecord, keptAtFirst } from "./training-record";

/** Ports for marks: the identity of a run, and its marks. */
export interface MarkPorts {
  readonly identities: { identify(runId: string): Promise<RunIdentity | undefined> };
  readonly changes: Pick<RunChanges, "mark">;
}

/** Writes within two marks: the first for a process that dies after the write, the second for a reader that looked in between. */
export async function marked<T>(
  { identities, changes }: MarkPorts,
  runId: string,
  write: () => Promise<T>,
): Promise<T> {
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
export interface TrainingTracking extends MarkPorts {
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
        throw new ExperimentDeletedError(first.identity.experimentId, run.job.experiment);
      }
      await tracking.changes.mark(first.identity);
      const created = await all.create(run, first);
      await tracking.changes.mark(first.identity);
      return created;
    },
    pause: (runId, pause) => marked(tracking, runId, () => all.pause(runId, pause)),
    resume: (runId, resumption) => marked(tracking, runId, () => all.resume(runId, resumption)),
    close: (runId, conclusion) => marked(tracking, runId, () => all.close(runId, conclusion)),
    async recordMachine(runId, machine) {
      await addMachine(runId, machine);
      await all.recordMachine(runId, machine);
    },
  };
}
