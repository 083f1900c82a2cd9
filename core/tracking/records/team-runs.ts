import { runNotFound } from "../../runs/errors";
import type { AllRuns, RunPhases, RunRepository, RunSteps } from "../../runs/run-repository";
import type { Run } from "../../runs/shapes";
import { type Artifacts, folderOf, producedArtifacts } from "../artifacts";
import type { Experiments } from "../experiments";
import type { RunChanges } from "../run-records";
import type { RunIdentity } from "../shapes";
import { experimentDeleted } from "./errors";
import { type FirstRecord, keptAtFirst } from "./training-record";

interface PhasePorts {
  /** Finds a run of any team. A run's id does not name its team. */
  readonly identities: { identify(runId: string): Promise<RunIdentity | undefined> };
  readonly changes: Pick<RunChanges, "mark">;
}

interface StepPorts extends PhasePorts {
  readonly artifacts: Pick<Artifacts, "putProduced">;
}

interface RunPorts extends StepPorts {
  /** Idempotent. */
  readonly records: { addInstanceType(run: RunIdentity, instanceType: string): Promise<void> };
  readonly experiments: Pick<Experiments, "ensure">;
}

type Operation<Rest extends unknown[], Result> = (runId: string, ...rest: Rest) => Promise<Result>;

/** Narrows operations to one team: another team's run does not exist, whatever the operation. */
function ownedBy(team: string, { identities, changes }: PhasePorts) {
  async function identify(runId: string): Promise<RunIdentity | undefined> {
    const identity = await identities.identify(runId);
    return identity?.team === team && identity.source === "training" ? identity : undefined;
  }

  /** Writes within two marks: the first for a process that dies after the write, the second for a reader between the two. */
  async function marked<T>(identity: RunIdentity, write: () => Promise<T>): Promise<T> {
    await changes.mark(identity);
    const written = await write();
    await changes.mark(identity);
    return written;
  }

  /** @param otherwise answers for another team's run */
  function guarded<Rest extends unknown[], Result>(
    operation: Operation<Rest, Result>,
    otherwise: (runId: string) => Result,
    marks: "marked" | undefined,
  ): Operation<Rest, Result> {
    return async (runId, ...rest) => {
      const identity = await identify(runId);
      if (!identity) return otherwise(runId);
      return marks ? marked(identity, () => operation(runId, ...rest)) : operation(runId, ...rest);
    };
  }

  return {
    identify,
    marked,
    own: (run: Run | undefined): Run | undefined => (run?.team === team ? run : undefined),
    /** Wraps an operation, which throws RUN_NOT_FOUND for another team's run. */
    checked: <Rest extends unknown[], Result>(operation: Operation<Rest, Result>, marks?: "marked") =>
      guarded(operation, refuse, marks),
    /** Wraps an operation, which returns false for another team's run. */
    ifOwned: <Rest extends unknown[]>(operation: Operation<Rest, boolean>, marks?: "marked") =>
      guarded(operation, () => false, marks),
  };
}

function refuse(runId: string): never {
  throw runNotFound(runId);
}

/** Narrows the phases of runs to a team's, and marks each change. */
export function teamRunPhases(all: RunPhases, team: string, ports: PhasePorts): RunPhases {
  const { own, checked, ifOwned, identify } = ownedBy(team, ports);
  return {
    find: async (runId) => own(await all.find(runId)),
    async findDetails(runId) {
      const details = await all.findDetails(runId);
      return own(details?.run) && details;
    },
    enterPhase: ifOwned(all.enterPhase, "marked"),
    goBack: checked(all.goBack, "marked"),
    putTaskToken: checked(all.putTaskToken),
    findTaskTokens: async (runId, phase) => ((await identify(runId)) ? all.findTaskTokens(runId, phase) : []),
  };
}

/** Narrows the steps of runs to a team's, marks each change, and names the artifacts that a step produced. */
export function teamRunSteps(all: RunSteps, team: string, ports: StepPorts): RunSteps {
  const { identify, marked } = ownedBy(team, ports);
  return {
    ...teamRunPhases(all, team, ports),
    async recordStep(runId, record) {
      const identity = (await identify(runId)) ?? refuse(runId);
      await marked(identity, async () => {
        // Before the step's record: a process that dies between the two writes repeats the end of the step.
        const artifacts = producedArtifacts(record);
        if (artifacts.length > 0) await ports.artifacts.putProduced(runId, artifacts, folderOf(identity));
        await all.recordStep(runId, record);
      });
    },
  };
}

/** Narrows runs to a team's. Each is created with its record, and each change that the record shows is marked. */
export function teamRuns(all: AllRuns<FirstRecord>, team: string, ports: RunPorts): RunRepository {
  const { identify, marked, own, checked, ifOwned } = ownedBy(team, ports);
  return {
    ...teamRunSteps(all, team, ports),
    async create(run) {
      if (run.team !== team) throw new Error(`run ${run.runId} is of team ${run.team}, not of ${team}`);
      const first = await firstRecordOf(ports.experiments, run);
      if (first.deleted) {
        // A request from before the experiment's deletion has the same answer as before.
        const existingRun = own(await all.find(run.runId));
        if (existingRun) return { created: false, run: existingRun };
        throw experimentDeleted(first.identity.experimentId, run.job.experiment);
      }
      const created = await marked(first.identity, () => all.create(run, first));
      if (!own(created.run)) throw new Error(`the id ${run.runId} is taken by another team's run: submit again`);
      return created;
    },
    list: (query) => all.list({ ...query, team }),
    listOpen: async () => (await all.listOpen()).filter((run) => run.team === team),
    pause: ifOwned(all.pause, "marked"),
    resume: ifOwned(all.resume, "marked"),
    close: ifOwned(all.close, "marked"),
    delist: checked(all.delist),
    markEndPublished: checked(all.markEndPublished),
    beginAttempt: ifOwned(all.beginAttempt, "marked"),
    takeOverAttempt: ifOwned(all.takeOverAttempt),
    recordJob: ifOwned(all.recordJob),
    completeAttempt: ifOwned((runId, attempt, end) => all.completeAttempt(team, runId, attempt, end)),
    monthUsage: (month) => all.monthUsage(team, month),
    leaveQueue: checked(all.leaveQueue, "marked"),
    recordWorker: checked(all.recordWorker),
    async recordMachine(runId, machine) {
      const identity = (await identify(runId)) ?? refuse(runId);
      await ports.records.addInstanceType(identity, machine.instanceType);
      await all.recordMachine(runId, machine);
    },
    recordInterruptionNotice: ifOwned(all.recordInterruptionNotice),
    recordRecovery: checked(all.recordRecovery),
    recordWarning: checked(all.recordWarning),
    recordProgress: checked(all.recordProgress),
  };
}

/** Creates the run's experiment if there is none. `deleted`: the experiment is deleted. */
async function firstRecordOf(
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
