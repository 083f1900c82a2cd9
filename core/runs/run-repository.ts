import type { Warning } from "../warnings";
import type { AttemptRepository, MonthUsage } from "./attempt-repository";
import type { TrainingProgress } from "./progress";
import type {
  MachineRecord,
  Phase,
  RecoveryRecord,
  Run,
  RunDetails,
  RunFailure,
  RunOutcome,
  StepRecord,
  WorkerRecord,
} from "./run";
import type { StatusFilter } from "./run-status";

export interface RunQuery {
  readonly limit: number;
  /** Of the page before. @throws InvalidInputError where no page gave it */
  readonly nextToken?: string;
  /** Runs of this experiment alone; rows of earlier versions are found by its name. */
  readonly experiment?: { readonly experimentId: string; readonly name: string };
  /** As `displayedStatus` has it: a run that waits for an approval is not `running`. */
  readonly status?: StatusFilter;
}

/** Runs, newest first. Where the query has a filter, a page may hold fewer than `limit` although another follows. */
export interface RunPage {
  readonly runs: readonly Run[];
  /** Opaque; absent on the last page. */
  readonly nextToken?: string;
}

export interface RunConclusion {
  readonly status: "completed" | "failed" | "killed";
  readonly at: string;
  readonly failure?: RunFailure;
  readonly outcome?: RunOutcome;
}

/** The port to a team's runs. Every write may be repeated; a run that has ended never changes. See docs/access-patterns.md. */
export interface RunRepository extends AttemptRepository {
  /** Creates it, or answers the one that is there under the same id. */
  create(run: Run): Promise<{ readonly created: boolean; readonly run: Run }>;
  find(runId: string): Promise<Run | undefined>;
  findDetails(runId: string): Promise<RunDetails | undefined>;
  list(query: RunQuery): Promise<RunPage>;
  /** Every run until `delist`: those that have not ended, those with work left to stop, and those whose end is to be published. */
  listOpen(): Promise<readonly Run[]>;
  /** Sets `running` and the phase; phases go forward only. False where the run has ended, is past that phase, or is not there. */
  enterPhase(runId: string, phase: Phase, at: string): Promise<boolean>;
  /** Lets a run that is in `from` enter the earlier phase `to` once more. Nothing where it is not in `from`. */
  goBack(runId: string, from: Phase, to: Phase, at: string): Promise<void>;
  /** Ends the run once; false where it had ended before, whose end then stands. It stays in the list of open runs. */
  conclude(runId: string, conclusion: RunConclusion): Promise<boolean>;
  /** Takes a run that has ended out of the list of open ones. */
  delist(runId: string): Promise<void>;
  /** Records in the list of open runs that the run's end was published; nothing where it is not listed. */
  markEndPublished(runId: string): Promise<void>;
  recordStep(runId: string, record: StepRecord): Promise<void>;
  /** Adds a token to the phase's: a state that is tried again gives a new one, and nobody can tell which call comes last. */
  putTaskToken(runId: string, phase: Phase, token: string): Promise<void>;
  /** All that the phase has given; one of them at most still waits. */
  findTaskTokens(runId: string, phase: Phase): Promise<readonly string[]>;
  /**
   * Keeps the newer of what is there and what comes: the later attempt of ours, then more attempts of Batch's, then the later status.
   * @returns what it took the place of where it is newer.
   */
  recordWorker(
    runId: string,
    worker: WorkerRecord,
  ): Promise<{ readonly newer: boolean; readonly before?: WorkerRecord }>;
  /** Of one process; the first stands. */
  recordMachine(runId: string, machine: MachineRecord): Promise<void>;
  /** Of a process whose machine is recorded. True the first time only. */
  recordInterruptionNotice(runId: string, memberId: string, at: string): Promise<boolean>;
  /** Once a generation; a measured recovery replaces one without a time. False where nothing was written. */
  recordRecovery(runId: string, recovery: RecoveryRecord): Promise<boolean>;
  /** Adds a warning to the run. One of each code: a repeat replaces it. */
  recordWarning(runId: string, warning: Warning): Promise<void>;
  /** Ignored where a later step is recorded. */
  recordProgress(runId: string, progress: TrainingProgress): Promise<void>;
}

/**
 * The port to the runs of all teams. Ids of runs are unique over all teams. `teamRuns` makes it the port of one team.
 *
 * @typeParam FirstRecord the record that is written with a new run
 */
export interface AllRuns<FirstRecord = never>
  extends Omit<RunRepository, "create" | "list" | "endAttempt" | "monthUsage"> {
  /** Creates a run with its record in one transaction. */
  create(run: Run, record?: FirstRecord): ReturnType<RunRepository["create"]>;
  endAttempt(team: string, ...given: Parameters<RunRepository["endAttempt"]>): Promise<boolean>;
  monthUsage(team: string, month: string): Promise<MonthUsage>;
  list(query: RunQuery & { readonly team: string }): Promise<RunPage>;
  /** Processes, those that have ended too, that said they run on an EC2 instance. */
  findOnInstance(instanceId: string): Promise<readonly InstanceUse[]>;
}

export interface InstanceUse {
  readonly runId: string;
  readonly memberId: string;
}

/** A team's outputs of finished steps and of exports, by the hash of their inputs. */
export interface StepCache {
  find(step: Phase | "Export", inputHash: string): Promise<CachedOutput | undefined>;
  /** The first output stands; answers the one that does. */
  keep(step: Phase | "Export", inputHash: string, output: CachedOutput): Promise<CachedOutput>;
}

export interface CachedOutput {
  readonly runId: string;
  readonly output: unknown;
  readonly at: string;
}
