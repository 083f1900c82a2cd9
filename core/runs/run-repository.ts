import type { Warning } from "../shapes";
import type { AttemptRepository, MonthUsage } from "./attempts";
import type { TrainingProgress } from "./progress";
import type { Phase, RunStatus } from "./run-states";
import type {
  MachineRecord,
  RecoveryRecord,
  Run,
  RunDetails,
  RunFailure,
  RunOutcome,
  StepRecord,
  WorkerRecord,
} from "./shapes";

/** A state that waits on a task token: a phase of the run, or an approval of its model after its end. */
export type TaskWait = Phase | `Approval#${string}`;

export interface RunQuery {
  readonly limit: number;
  /** Token of the previous page. @throws InvalidInputError if no page returned it */
  readonly nextToken?: string;
  readonly experimentId?: string | undefined;
  readonly status?: RunStatus;
}

/**
 * A page of runs, newest first. With a filter, a page may have fewer than `limit` runs although another page follows.
 */
export interface RunPage {
  readonly runs: readonly Run[];
  /** Ids of runs whose rows are damaged. */
  readonly unreadable?: readonly string[];
  /** Opaque; absent on the last page. */
  readonly nextToken?: string;
}

/** A pause: the segment of the run that ends with it. */
export interface RunPause {
  readonly segment: number;
  readonly at: string;
}

/** The next segment of a paused run. */
export interface RunResumption {
  /** The segment that was paused. */
  readonly after: number;
  /** The run's creation, by which open runs are listed. */
  readonly createdAt: string;
  readonly pauseAt?: number;
  readonly workers?: number;
  readonly at: string;
}

export interface RunConclusion {
  readonly status: "completed" | "failed" | "killed";
  readonly at: string;
  readonly failure?: RunFailure;
  readonly outcome?: RunOutcome;
}

/** The port to a team's runs (docs/access-patterns.md). Writes may be repeated; an ended run never changes. */
export interface RunRepository extends AttemptRepository {
  /** Creates the run, or returns the existing one with the same id. */
  create(run: Run): Promise<{ readonly created: boolean; readonly run: Run }>;
  find(runId: string): Promise<Run | undefined>;
  findDetails(runId: string): Promise<RunDetails | undefined>;
  list(query: RunQuery): Promise<RunPage>;
  /** Lists every run until `delist`: open ones, those with work to stop, those whose end is not published. */
  listOpen(): Promise<readonly Run[]>;
  /**
   * Sets `running` and the phase, which only goes forward. Returns false if the run ended, is past it, or is missing.
   */
  enterPhase(runId: string, phase: Phase, at: string): Promise<boolean>;
  /** Ends the wait of a run's job for free workers: a worker started at `at`. Does nothing if the run does not wait. */
  leaveQueue(runId: string, at: string): Promise<void>;
  /** Returns a run that is in `from` to the earlier phase `to`. Does nothing if it is not in `from`. */
  goBack(runId: string, from: Phase, to: Phase, at: string): Promise<void>;
  /** Closes the run once; false if it had ended: the first end stays. It stays in the list of open runs. */
  close(runId: string, conclusion: RunConclusion): Promise<boolean>;
  /** Pauses a run that trains its segment. Returns false if it does not train that segment. */
  pause(runId: string, pause: RunPause): Promise<boolean>;
  /** Queues the next segment of a paused run, and lists the run as open. Returns false if it is not paused after `after`. */
  resume(runId: string, resumption: RunResumption): Promise<boolean>;
  /** Removes an ended or paused run from the list of open ones. */
  delist(runId: string): Promise<void>;
  /** Records in the list of open runs that the run's end was published; does nothing if the run is not listed. */
  markEndPublished(runId: string): Promise<void>;
  recordStep(runId: string, record: StepRecord): Promise<void>;
  /** Adds a token to the phase. A state that is retried has a new token, and the order of the calls is unknown. */
  putTaskToken(runId: string, wait: TaskWait, token: string): Promise<void>;
  /** Returns all tokens of the phase; at most one of them still waits. */
  findTaskTokens(runId: string, wait: TaskWait): Promise<readonly string[]>;
  /** Keeps the newer record: by our attempt, Batch's attempts, status. @returns the replaced one, if any */
  recordWorker(
    runId: string,
    worker: WorkerRecord,
  ): Promise<{ readonly newer: boolean; readonly before?: WorkerRecord }>;
  /** Records the machine of one process; the first record stays. */
  recordMachine(runId: string, machine: MachineRecord): Promise<void>;
  /** Records an interruption notice for a process with a recorded machine. Returns true the first time. */
  recordInterruptionNotice(runId: string, memberId: string, at: string): Promise<boolean>;
  /** Records a recovery once per generation; a measured one replaces one without a time. False: nothing written. */
  recordRecovery(runId: string, recovery: RecoveryRecord): Promise<boolean>;
  /** Adds a warning to the run. A warning of the same code replaces the earlier one. */
  recordWarning(runId: string, warning: Warning): Promise<void>;
  /** Ignored if a later step is recorded. */
  recordProgress(runId: string, progress: TrainingProgress): Promise<void>;
}

export type RunSteps = Pick<
  RunRepository,
  "find" | "findDetails" | "enterPhase" | "goBack" | "recordStep" | "putTaskToken" | "findTaskTokens"
>;

export type RunPhases = Omit<RunSteps, "recordStep">;

/**
 * The port to the runs of all teams. Ids of runs are unique over all teams. `teamRuns` makes it the port of one team.
 *
 * @typeParam FirstRecord the record that is written with a new run
 */
export interface AllRuns<FirstRecord = unknown>
  extends Omit<RunRepository, "create" | "list" | "completeAttempt" | "monthUsage"> {
  /** Creates a run with its record in one transaction. */
  create(run: Run, record: FirstRecord): ReturnType<RunRepository["create"]>;
  completeAttempt(team: string, ...rest: Parameters<RunRepository["completeAttempt"]>): Promise<boolean>;
  monthUsage(team: string, month: string): Promise<MonthUsage>;
  list(query: RunQuery & { readonly team: string }): Promise<RunPage>;
  /** Returns the processes, ended ones included, that reported this EC2 instance. */
  findOnInstance(instanceId: string): Promise<readonly InstanceUse[]>;
}

export interface InstanceUse {
  readonly runId: string;
  readonly memberId: string;
}

export interface StepCache {
  find(step: Phase | "Export", inputHash: string): Promise<CachedOutput | undefined>;
  /** Stores an output; the first one stays and is returned. */
  keep(step: Phase | "Export", inputHash: string, output: CachedOutput): Promise<CachedOutput>;
}

export interface CachedOutput {
  readonly runId: string;
  readonly output: unknown;
  readonly at: string;
}
