import { objectKeys } from "../../core/object-keys";
import type { TrainingResult } from "../../core/runs/training-task";
import { seededRandom } from "../../test/support/random";
import { type Cost, costOf } from "../../test/support/training-trace";
import type { TrainerCloud } from "../../test/trainer/process/cloud";
import { Crew } from "./crew";
import { Relay } from "./relay";
import type { Scenario } from "./scenarios";
import { type Job, storeJob, totalSteps } from "./task";
import type { Life } from "./time-point";

const trialMs = 180_000;

export interface Ground {
  readonly cloud: TrainerCloud;
  /** The trainer's bundle. */
  readonly script: string;
}

export interface Outcome extends Cost {
  readonly seed: number;
  readonly what: string;
  readonly complete: boolean;
  readonly sha256: string | undefined;
  readonly pointsMissing: number;
  readonly wallMs: number;
  readonly generations: number;
  readonly trouble?: string;
  readonly transcript: string;
}

let runs = 0;

export async function runTrial(
  ground: Ground,
  scenario: Scenario,
  job: Job,
  life: Life,
  index: number,
  seed: number,
): Promise<Outcome> {
  const { cloud, script } = ground;
  const runId = `trial-${++runs}`;
  await storeJob(cloud.store, runId, job);
  const relay = await Relay.start(cloud.endpoint);
  const { endpoint } = scenario.relayed ? relay : cloud;
  const random = seededRandom(seed);
  const { clockErrorMs = 0 } = scenario;
  const offsets = Array.from({ length: job.workers }, () => (clockErrorMs && random() * 2 - 1) * clockErrorMs);
  const apart = scenario.relayed === true;
  const crew = new Crew({ script, endpoint, directory: cloud.directory, runId, apart }, (i) => Math.round(offsets[i]!));
  const startedAt = Date.now();
  try {
    for (let i = 0; i < (scenario.started?.(job) ?? job.workers); i += 1) crew.start(i);
    const { what, at, victims } = await scenario.disturb({ crew, relay, random, life, job, index });
    const inTime = await crew.over(trialMs);
    const wallMs = Date.now() - startedAt;
    await crew.end();
    const result = await findResult(cloud, runId);
    const trouble = [
      ...(inTime ? [] : [`not over after ${trialMs} ms`]),
      ...crew.failures,
      ...(result ? [] : ["no result"]),
      ...(apart && relay.carried === 0 ? ["workers did not go through the relay: nothing was cut"] : []),
    ];
    return {
      seed,
      what,
      complete: trouble.length === 0,
      sha256: result?.weightsSha256,
      pointsMissing: pointsMissing(cloud, runId, totalSteps(job)),
      wallMs,
      generations: result?.generations ?? 0,
      ...(trouble.length === 0 ? {} : { trouble: trouble.join("; ") }),
      transcript: crew.transcript(),
      ...costOf(
        crew.workers,
        at,
        victims.map(({ memberId }) => memberId),
      ),
    };
  } finally {
    await crew.end();
    await relay.close();
  }
}

export interface Reference {
  readonly sha256: string;
  readonly life: Life;
}

/** Runs the same job undisturbed. @throws if it does not complete */
export async function runUndisturbed({ cloud, script }: Ground, job: Job): Promise<Reference> {
  const runId = `undisturbed-${++runs}`;
  await storeJob(cloud.store, runId, job);
  const crew = new Crew({ script, endpoint: cloud.endpoint, directory: cloud.directory, runId });
  try {
    const startedAt = Date.now();
    for (let i = 0; i < job.workers; i += 1) crew.start(i);
    const inTime = await crew.over(trialMs);
    const endedAt = Date.now();
    const result = await findResult(cloud, runId);
    if (!inTime || !result || crew.failures.length > 0) {
      throw new Error(`an undisturbed run of ${job.workers} did not complete:\n${crew.transcript()}`);
    }
    const at = crew.workers.flatMap(({ steps }) => steps.map((step) => step.at));
    const first = Math.min(...at);
    const last = Math.max(...at);
    return {
      sha256: result.weightsSha256,
      life: { startMs: first - startedAt, trainMs: last - first, endMs: endedAt - last },
    };
  } finally {
    await crew.end();
  }
}

async function findResult({ store }: TrainerCloud, runId: string): Promise<TrainingResult | undefined> {
  const body = await store.find(objectKeys.trainingResult(runId));
  return body && (JSON.parse(new TextDecoder().decode(body)) as TrainingResult);
}

function pointsMissing({ batches }: TrainerCloud, runId: string, steps: number): number {
  const series = batches.filter((batch) => batch.runId === runId).flatMap((batch) => batch.series);
  return steps - new Set(series.filter(({ metric }) => metric === "train/loss").flatMap((one) => one.steps)).size;
}
