import type { TrainingProgress } from "../tracking/metric-batch";
import type { Phase, Run, RunDetails, RunFailure, RunOutcome, StepRecord, TrainingAttempt, WorkerRecord } from "./run";

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
  /** Its execution or job may still be at work: it stays in the list of open runs until `delist`. */
  readonly workLeft?: boolean;
}

/** The port to a team's runs. Every write may be repeated; a run that has ended never changes. See docs/access-patterns.md. */
export interface RunRepository {
  /** Creates it, or answers the one that is there under the same id. */
  create(run: Run): Promise<{ readonly created: boolean; readonly run: Run }>;
  find(runId: string): Promise<Run | undefined>;
  findDetails(runId: string): Promise<RunDetails | undefined>;
  list(query: { readonly limit: number; readonly nextToken?: string }): Promise<RunPage>;
  /** Every run that is neither completed, failed nor killed, or of which there is work left to stop. */
  listOpen(): Promise<readonly Run[]>;
  /** Sets `running` and the phase. False where the run has ended (or is not there). */
  enterPhase(runId: string, phase: Phase, at: string): Promise<boolean>;
  /** Ends the run once; false where it had ended before, whose end then stands. */
  conclude(runId: string, conclusion: RunConclusion): Promise<boolean>;
  /** Takes a run that has ended out of the list of open ones. */
  delist(runId: string): Promise<void>;
  recordStep(runId: string, record: StepRecord): Promise<void>;
  putTaskToken(runId: string, phase: Phase, token: string): Promise<void>;
  findTaskToken(runId: string, phase: Phase): Promise<string | undefined>;
  /** False where that attempt is there already. */
  beginAttempt(runId: string, attempt: TrainingAttempt): Promise<boolean>;
  updateAttempt(runId: string, attempt: TrainingAttempt): Promise<void>;
  /** Keeps the newer of what is there and what comes: more attempts, then the later status. */
  recordWorker(runId: string, worker: WorkerRecord): Promise<void>;
  /** Ignored where a later step is recorded. */
  recordProgress(runId: string, progress: TrainingProgress): Promise<void>;
}

/** Runs of every team: their ids are the world's. Made a team's port by `teamRuns`. */
export interface AllRuns extends Omit<RunRepository, "list"> {
  list(query: { readonly team: string; readonly limit: number; readonly nextToken?: string }): Promise<RunPage>;
}

/** A team's outputs of finished steps, by the hash of their inputs. */
export interface StepCache {
  find(step: Phase, inputHash: string): Promise<CachedOutput | undefined>;
  /** The first output stands; answers the one that does. */
  keep(step: Phase, inputHash: string, output: CachedOutput): Promise<CachedOutput>;
}

export interface CachedOutput {
  readonly runId: string;
  readonly output: unknown;
  readonly at: string;
}
