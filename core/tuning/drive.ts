import { inRounds, type Pause } from "../backoff";
import { mapLimited } from "../each-limited";
import { getJson } from "../object-documents";
import { objectKeys } from "../object-keys";
import { isoTime, type ObjectStore } from "../ports";
import type { RunRecords } from "../tracking/run-records";
import { decide } from "./decide";
import { type ObservedTrial, warmStartTrials } from "./history";
import { type Observation, type ObserveDependencies, observe } from "./observe";
import { maxTrialsPerWrite, type StudyRepository, type StudyState, studyBusy } from "./ports";
import { isActive, type Study, type Trial } from "./shapes";
import { isPermanent, registerBest, type StartDependencies, startSegment } from "./start";

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
 *
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

/** Trials that cannot start, each with the reason. */
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
