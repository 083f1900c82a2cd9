import type { MachineRecord, Run } from "../../runs/run";
import type { AllRuns } from "../../runs/run-repository";
import type { Artifacts } from "../artifacts";
import type { Experiments } from "../experiments";
import type { RunIdentity } from "../run-record";
import type { RunChanges } from "../run-records";
import { folderOf } from "./artifact-paths";
import { ExperimentDeletedError } from "./errors";
import { producedArtifacts } from "./produced";
import { type FirstRecord, keptAtFirst } from "./training-record";

/** The runs of all teams, for finding a run's owner. */
export interface RunOwners {
  identify(runId: string): Promise<RunIdentity | undefined>;
  /** Idempotent. */
  addInstanceType(run: RunIdentity, instanceType: string): Promise<void>;
}

/**
 * The ports for tracking that a training run's own rows need. Ports are passed whole, so that the derivation of
 * permissions sees the calls.
 */
export interface TrainingTracking {
  readonly records: RunOwners;
  readonly changes: Pick<RunChanges, "mark">;
  experimentsOf(team: string): Pick<Experiments, "ensure">;
  artifactsOf(team: string): Pick<Artifacts, "putProduced">;
}

/** Creates the run's experiment if there is none. `deleted`: the experiment is deleted. */
export async function firstRecordOf(
  { experimentsOf }: Pick<TrainingTracking, "experimentsOf">,
  run: Run,
): Promise<FirstRecord & { readonly deleted: boolean }> {
  const { runId, team, job, createdBy, createdAt } = run;
  const experiment = await experimentsOf(team).ensure(job.experiment, createdBy, createdAt);
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
  /**
   * Marks before the write, in case the process dies after it, and after the write, for a reader that looked in
   * between.
   */
  async function marked<T>(runId: string, write: () => Promise<T>): Promise<T> {
    const identity = await tracking.records.identify(runId);
    if (!identity) return write();
    await tracking.changes.mark(identity);
    const written = await write();
    await tracking.changes.mark(identity);
    return written;
  }

  async function addMachine(runId: string, { instanceType }: MachineRecord): Promise<void> {
    const identity = await tracking.records.identify(runId);
    if (identity) await tracking.records.addInstanceType(identity, instanceType);
  }

  return {
    ...all,
    async create(run) {
      const first = await firstRecordOf(tracking, run);
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
    goBack: (runId, from, to, at) => marked(runId, () => all.goBack(runId, from, to, at)),
    enterPhase: (runId, phase, at) => marked(runId, () => all.enterPhase(runId, phase, at)),
    close: (runId, conclusion) => marked(runId, () => all.close(runId, conclusion)),
    async recordStep(runId, record) {
      await marked(runId, async () => {
        // Written before the step is finished. If the process dies in between, the step's end is repeated.
        const [identity, made] = [await tracking.records.identify(runId), producedArtifacts(record)];
        if (identity && made.length > 0)
          await tracking.artifactsOf(identity.team).putProduced(runId, made, folderOf(identity));
        await all.recordStep(runId, record);
      });
    },
    async recordMachine(runId, machine) {
      await addMachine(runId, machine);
      await all.recordMachine(runId, machine);
    },
  };
}
