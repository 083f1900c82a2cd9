import { inRounds, type Pause } from "../backoff";
import { digestOf } from "../digest";
import { mapLimited } from "../each-limited";
import { RingmasterError } from "../errors";
import { getJson } from "../object-documents";
import { objectKeys } from "../object-keys";
import { isoTime, type ObjectStore } from "../ports";
import type { Run } from "../runs/shapes";
import type { RunRecords } from "../tracking/run-records";
import { checkpointStart } from "../training/initial-weights";
import { type ResumeDependencies, resumeRun } from "../training/pause";
import { findSubmitted, type SubmitDependencies, type SubmitRequest, submitRun } from "../training/submit";
import { bestJob, decide, runSegment, trialJob, trialKey } from "./decide";
import { type ObservedTrial, warmStartTrials } from "./history";
import { type Observation, type ObserveDependencies, observe } from "./observe";
import { maxTrialsPerWrite, type StudyRepository, type StudyState, studyBusy } from "./ports";
import { isActive, type Study, type Trial } from "./shapes";

export interface StartDependencies extends SubmitDependencies, ResumeDependencies {
  readonly runs: SubmitDependencies["runs"] & ResumeDependencies["runs"];
  readonly team: string;
  readonly studies: Pick<StudyRepository, "save">;
  readonly objects: ObjectStore;
}

/** Starts a running trial's segment: submits its run, or resumes it. Idempotent. */
export async function startSegment(
  dependencies: StartDependencies,
  { study, trials }: StudyState,
  trial: Trial,
): Promise<void> {
  const { definition } = study;
  const { epochs } = definition.job.hyperparameters;
  const pause = trial.until < epochs ? { pauseAt: trial.until } : {};
  if (runSegment(trial) > 0) {
    await resumeRun(dependencies, { runId: trial.runId as string, after: runSegment(trial) - 1, ...pause });
    return;
  }
  await submit(dependencies, study, trialKey(study, trial), async () => ({
    ...pause,
    ...initialWeights(study, trial),
    ...(await checkpointOf(dependencies, trials, trial)),
    job: { ...trialJob(definition, trial.params), name: `${study.name}-${trial.number}` },
    trial: { study: study.name, number: trial.number },
    parentRunId: study.parentRunId,
  }));
}

/** All trials begin with the same weights, even if an alias moves while the study runs. */
function initialWeights({ fineTunedFrom }: Study, { params }: Trial): Pick<SubmitRequest, "fineTunedFrom"> {
  return fineTunedFrom && !("fineTune.from" in params) ? { fineTunedFrom } : {};
}

/** Refers to the checkpoint of another trial with which a trial begins. Its tensors are not copied. */
async function checkpointOf(
  { objects }: StartDependencies,
  trials: readonly Trial[],
  { from }: Trial,
): Promise<Pick<Submission, "restoredFrom" | "beforeCreation">> {
  const source = from && trials.find(({ number }) => number === from.trial)?.runId;
  if (from === undefined || source === undefined) return {};
  const { restoredFrom, copyTo } = await checkpointStart(objects, source, from.epoch);
  return { restoredFrom, beforeCreation: copyTo };
}

/**
 * Submits the run that trains the best trial's settings to the end, and registers its model. A trial that was trained
 * to the end has the same training step, so its output is reused. Idempotent.
 */
export async function registerBest(dependencies: StartDependencies, state: StudyState): Promise<Study> {
  const { study, trials } = state;
  const best = trials.find(({ number }) => number === study.best[0]);
  if (isActive(study) || study.definition.best === undefined || best === undefined) return study;
  if (study.bestRunId !== undefined || study.bestFailure !== undefined) return study;
  const next: Study = { ...study, ...(await submitBest(dependencies, study, best)), revision: study.revision + 1 };
  // Another call may have been first: it has submitted the same run.
  return (await dependencies.studies.save(next, [])) ? next : study;
}

/** Submits the best trial's settings. A refusal that a repetition would meet again is recorded. */
async function submitBest(
  dependencies: StartDependencies,
  study: Study,
  best: Trial,
): Promise<Pick<Study, "bestRunId" | "bestFailure">> {
  try {
    const run = await submit(dependencies, study, `study ${study.name} best ${study.extensions}`, async () => ({
      ...initialWeights(study, best),
      job: bestJob(study.definition, best.params),
      parentRunId: study.parentRunId,
    }));
    return { bestRunId: run.runId };
  } catch (error) {
    if (!isPermanent(error)) throw error;
    return { bestFailure: `${error.code}: ${error.message}` };
  }
}

function isPermanent(error: unknown): error is RingmasterError {
  return error instanceof RingmasterError && !error.retryable && error.httpStatus < 500;
}

type Submission = Pick<
  SubmitRequest,
  "job" | "pauseAt" | "trial" | "parentRunId" | "fineTunedFrom" | "restoredFrom" | "beforeCreation"
>;

async function submit(
  dependencies: StartDependencies,
  study: Study,
  idempotencyKey: string,
  submission: () => Promise<Submission>,
): Promise<Run> {
  const { name, definition, submitters } = study;
  const identity = {
    team: dependencies.team,
    idempotencyKey,
    requestDigest: digestOf({ study: name, idempotencyKey }),
  };
  const run = await findSubmitted(dependencies, identity);
  if (run) return run;
  return submitRun(dependencies, {
    ...identity,
    ...(await submission()),
    code: definition.code,
    ...(definition.environment ? { environment: definition.environment } : {}),
    noCache: false,
    actor: `study ${name}`,
    ...(submitters ? { submitters } : {}),
  });
}

export interface DriveDependencies extends ObserveDependencies, StartDependencies {
  readonly runs: ObserveDependencies["runs"] & StartDependencies["runs"];
  readonly team: string;
  readonly studies: Pick<StudyRepository, "load" | "save">;
  readonly records: Pick<RunRecords, "change">;
  readonly pause: Pause;
}

/** Each failed round means that another writer succeeded. */
const rounds = 24;
const readsAtOnce = 8;
const startsAtOnce = 4;

/**
 * Drives a study: reads what its running trials have reached, decides, writes the decision, and starts what was
 * decided. Called on every event of its trials and by the sweep. Idempotent, and independent of the order of events:
 * each call compares the stored trials with their runs.
 *
 * A decision is written before it is carried out, under the condition that the study is unchanged. If the process dies
 * in between, the next call finds running trials whose run is missing or paused, and starts them.
 * @returns the study; `undefined` if there is none of that name
 */
export async function driveStudy(dependencies: DriveDependencies, name: string): Promise<Study | undefined> {
  const { pause } = dependencies;
  for (let refused: Refusals = new Map(); ; ) {
    const turn = await inRounds({ rounds, pause, busy: () => studyBusy(name) }, () =>
      advance(dependencies, name, refused),
    );
    if (turn.state === undefined) return undefined;
    refused = await startSegments(dependencies, turn);
    if (refused.size > 0 || turn.more) continue;
    return registerBest(dependencies, turn.state);
  }
}

type Refusals = ReadonlyMap<number, string>;

interface Turn {
  readonly state: StudyState | undefined;
  /** Running trials whose run is not at work. */
  readonly toStart: readonly Trial[];
  /** Whether decisions are left that did not fit into one transaction. */
  readonly more: boolean;
}

/** Takes over results and writes the next decisions. Returns `undefined` if another writer was first. */
async function advance(dependencies: DriveDependencies, name: string, refused: Refusals): Promise<Turn | undefined> {
  const { studies, clock } = dependencies;
  const before = await studies.load(name);
  if (before === undefined || !isActive(before.study)) return { state: before, toStart: [], more: false };
  const { study, trials } = before;
  const running = trials.filter(({ state }) => state === "running");
  const observations = await mapLimited(running, readsAtOnce, async (trial): Promise<Observation> => {
    const reason = refused.get(trial.number);
    if (reason === undefined) return observe(dependencies, study.definition, trial);
    return { kind: "ended", trial: { ...trial, state: "failed", reason, endedAt: isoTime(clock) } };
  });
  const ended = observations.flatMap((one) => (one.kind === "ended" ? one.trial : []));
  const missing = observations.flatMap((one) => (one.kind === "missing" ? one.trial : []));
  const decided = decide(study, withChanges(trials, ended), await warmStart(dependencies, study), clock.now());
  const changes = [...new Map([...ended, ...decided.trials].map((trial) => [trial.number, trial])).values()];
  if (changes.length === 0 && decided.study === study) return { state: before, toStart: missing, more: false };

  const written = changes.slice(0, maxTrialsPerWrite);
  const more = changes.length > written.length;
  // A study ends with its last change.
  const next = { ...(more ? study : decided.study), revision: study.revision + 1, updatedAt: isoTime(clock) };
  if (!isActive(next)) await endParent(dependencies, next);
  if (!(await studies.save(next, written))) return undefined;
  return {
    state: { study: next, trials: withChanges(trials, written) },
    toStart: [...missing, ...written.filter(({ state }) => state === "running")],
    more,
  };
}

function withChanges(trials: readonly Trial[], changes: readonly Trial[]): readonly Trial[] {
  const byNumber = new Map([...trials, ...changes].map((trial) => [trial.number, trial]));
  return [...byNumber.values()].sort((a, b) => a.number - b.number);
}

/** Returns the trials of earlier studies that the sampler knows. They were stored with the study and never change. */
async function warmStart(
  { objects }: { readonly objects: Pick<ObjectStore, "find"> },
  { name, warmTrials }: Study,
): Promise<readonly ObservedTrial[]> {
  return warmTrials === 0 ? [] : getJson(objects, objectKeys.studyWarmStart(name), warmStartTrials);
}

async function startSegments(dependencies: DriveDependencies, { state, toStart }: Turn): Promise<Refusals> {
  const refused = new Map<number, string>();
  // A trial that continues from another one's checkpoint comes first: the other one's run would let it expire.
  for (const batch of [toStart.filter(({ from }) => from), toStart.filter(({ from }) => !from)]) {
    await mapLimited(batch, startsAtOnce, async (trial) => {
      try {
        await startSegment(dependencies, state as StudyState, trial);
      } catch (error) {
        if (!isPermanent(error)) throw error;
        refused.set(trial.number, `${error.code}: ${error.message}`);
      }
    });
  }
  return refused;
}

/** Ends the study's own run, before the study: if the process dies in between, the next call ends the study. */
async function endParent(
  { records, clock }: Pick<DriveDependencies, "records" | "clock">,
  { parentRunId, endedAt }: Study,
): Promise<void> {
  await records.change(parentRunId, (record) => {
    if (record.status !== "running") return undefined;
    return { ...record, status: "completed", endedAt: endedAt === undefined ? clock.now() : Date.parse(endedAt) };
  });
}
