import { resolveDataset } from "../datasets/repository";
import { eachLimited } from "../each-limited";
import { RingmasterError } from "../errors";
import { isoTime } from "../ports";
import { isSameStep, releaseLease, startStep } from "./advance";
import { contextOf, loadStep, type Step } from "./context";
import { kindOf, pipelineLimits, type StepDefinition } from "./definition";
import { endStep, type StepEnd } from "./end-step";
import { ExpressionError, evaluate } from "./expressions";
import { changesOf, checkedOutput, keyOf, keyPartsOf } from "./key";
import { stepsOf } from "./plan";
import { type CacheEntry, pipelineNotFound, type StepDependencies } from "./ports";
import { referenceOf, type StepReference, type StepState } from "./records";

/** The next move of a step's execution. */
export type NextMove =
  | { readonly next: "done" }
  /** Another step with the same key computes the output: begin again after the seconds. */
  | { readonly next: "poll"; readonly seconds: number }
  | { readonly next: "call" | "wait"; readonly attempt: number; readonly seconds: number; readonly resolved: Resolved };

/** The values of a step's own fields, its expressions evaluated. */
export type Resolved = Readonly<Record<string, unknown>>;

/** Seconds between two looks at the lease of another step. */
const [firstPollSeconds, maxPollSeconds] = [1, 600];
/** A lease outlasts its step by this, for the delivery of its end. */
const leaseGraceMs = 120_000;
const startsAtOnce = 16;
const maxInput = 16 * 1024;
/** Parts of a key only explain misses. Without them, a miss has no reason. */
const maxKeyParts = 64 * 1024;

/** Begins an attempt of a step: decides whether it runs at all, and whether an equal step has its output. Idempotent. */
export async function beginStep(
  dependencies: StepDependencies,
  reference: StepReference,
  polls = 0,
): Promise<NextMove> {
  const step = await loadStep(dependencies, reference);
  const { run, plan, state } = step;
  if (run.status !== "running") return { next: "done" };
  if (state.status === "running") {
    try {
      const move = await decideMove(dependencies, step, stepsOf(plan).get(reference.step)!, polls);
      if (!("status" in move)) return move;
      await endStep(dependencies, reference, move, state.attempt);
      return { next: "done" };
    } catch (error) {
      const failure = failureOf(error);
      if (!failure) throw error;
      const { retryAfter } = await endStep(dependencies, reference, { status: "failed", failure }, state.attempt);
      return retryAfter === undefined ? { next: "done" } : { next: "poll", seconds: retryAfter };
    }
  }
  // A repetition after the end: the run may not have continued yet.
  await endStep(dependencies, reference, { status: "skipped", why: "" }, state.attempt);
  return { next: "done" };
}

/** Returns the failure of a step for an error that no repetition would change; `undefined` for any other. */
export function failureOf(error: unknown): { readonly code: string; readonly message: string } | undefined {
  if (error instanceof ExpressionError) return { code: "EXPRESSION_FAILED", message: error.message };
  if (error instanceof RingmasterError && !error.retryable && error.httpStatus < 500)
    return { code: error.code, message: error.message };
  return undefined;
}

async function decideMove(
  dependencies: StepDependencies,
  step: Step,
  definition: StepDefinition,
  polls: number,
): Promise<NextMove | StepEnd> {
  const { reference, state } = step;
  const context = await contextOf(dependencies, step);
  if (reference.item === undefined) {
    if (definition.when !== undefined && (await evaluate(definition.when, context)) !== true)
      return { status: "skipped", why: `its condition is not true: ${definition.when}` };
    if (definition.forEach !== undefined)
      return beginItems(dependencies, step, await evaluate(definition.forEach, context), definition.concurrency);
  }
  const kind = kindOf(definition);
  const { input = {}, environment, [kind]: own } = definition;
  if (kind === "fail")
    return { status: "failed", failure: { code: "PIPELINE_FAILED", message: String(await evaluate(own, context)) } };
  const resolved = (await evaluate(
    { [kind]: typeof own === "object" && kind === "function" ? {} : own, input, environment },
    context,
  )) as Record<string, unknown>;
  // The version is resolved once, so that the key and the run agree.
  const job = kind === "train" ? (resolved["train"] as { dataset?: unknown }) : undefined;
  if (typeof job?.dataset === "string") {
    const { name, version } = (await resolveDataset(dependencies.submit.datasets, job.dataset)).manifest;
    job.dataset = `${name}@${version}`;
  }
  if (kind === "pipeline") {
    const { name } = resolved["pipeline"] as { name: string };
    const child = await dependencies.pipelines.findVersion(name);
    if (!child) throw pipelineNotFound(name);
    resolved["child"] = child.planSha256;
  }
  const move = {
    next: kind === "function" || kind === "api" ? "call" : "wait",
    attempt: state.attempt,
    seconds: Math.ceil(definition.minutes * 60),
    resolved,
  } as const;
  return (await reuse(dependencies, step, definition, resolved, polls)) ?? move;
}

/** Starts the first items of a `forEach`. */
async function beginItems(
  dependencies: StepDependencies,
  step: Step,
  items: unknown,
  concurrency: number,
): Promise<NextMove | StepEnd> {
  const { pipelines, objects } = dependencies;
  const { run, reference, state } = step;
  if (!Array.isArray(items))
    throw new ExpressionError(`forEach must give a list, not ${JSON.stringify(items)?.slice(0, 100)}`);
  if (items.length > pipelineLimits.items)
    throw new ExpressionError(
      `forEach must give at most ${pipelineLimits.items} items, not ${items.length}; start a pipeline for each part`,
    );
  if (items.length === 0) return { status: "succeeded", output: [] };
  const first = state.map?.next ?? Math.min(items.length, concurrency);
  if (!state.map) {
    const { sha256: itemsSha256 } = await objects.putContent(JSON.stringify(items), "application/json");
    await pipelines.updateStep(
      run.pipelineRunId,
      { ...state, map: { total: items.length, next: first, ended: 0, failed: 0, itemsSha256 } },
      state.attempt,
    );
  }
  await eachLimited(Array(Math.min(first, items.length)).keys(), startsAtOnce, (item) =>
    startStep(dependencies, referenceOf(run, reference.step, item)),
  );
  return { next: "done" };
}

/** Looks for an equal step, in the run that is resumed and in the cache, and takes a lease if there is none. */
async function reuse(
  dependencies: StepDependencies,
  step: Step,
  definition: StepDefinition,
  resolved: Resolved,
  polls: number,
): Promise<NextMove | StepEnd | undefined> {
  const { pipelines, objects, clock } = dependencies;
  const { run, reference, state } = step;
  const kind = kindOf(definition);
  const parts = keyPartsOf(kind, definition, resolved);
  const key = keyOf(parts);
  const off =
    run.noCache && (run.noCache.length === 0 || run.noCache.includes(reference.step)) ? "the cache is off" : undefined;
  // The code behind an ARN may change without a trace, and an operation of the API has effects.
  const cached = definition.cache ?? (kind === "train" || typeof definition.function === "object");
  const explained = JSON.stringify(parts).length <= maxKeyParts;
  const record = (change: Partial<StepState>): Promise<boolean> => {
    const input = JSON.stringify(resolved).length <= maxInput ? { input: resolved as StepState["input"] } : {};
    return pipelines.updateStep(
      reference.pipelineRunId,
      { ...state, ...input, ...(explained ? { keyParts: parts } : {}), key, ...change },
      state.attempt,
    );
  };
  const hit = async (value: unknown, from: string): Promise<StepEnd> => {
    await record({});
    return { status: "succeeded", output: value, why: `hit: as in ${from}` };
  };

  const earlier =
    run.resumedFrom === undefined
      ? undefined
      : await pipelines.findStep({ ...reference, pipelineRunId: run.resumedFrom });
  let damaged: string | undefined;
  if (earlier?.status === "succeeded" && earlier.key === key) {
    const checked = await checkedOutput(objects, earlier);
    if ("value" in checked) return hit(checked.value, `run ${run.resumedFrom}, which it resumes`);
    damaged = checked.damaged;
  }
  if (!cached) {
    await record({ why: `runs: a step of kind ${kind} is not cached` });
    return undefined;
  }
  const entry = await pipelines.findCached(key);
  const isOwn = entry !== undefined && isSameStep(entry.holder, reference);
  if (entry && entry.leasedUntil === undefined && off === undefined) {
    const checked = await checkedOutput(objects, entry);
    if ("value" in checked) return hit(checked.value, `run ${entry.holder.pipelineRunId}`);
    damaged = checked.damaged;
  }
  if (entry?.leasedUntil !== undefined && !isOwn && off === undefined && entry.leasedUntil > isoTime(clock)) {
    await record({ why: `waits for the equal step of run ${entry.holder.pipelineRunId}` });
    return { next: "poll", seconds: Math.min(maxPollSeconds, firstPollSeconds * 2 ** Math.min(polls, 10)) };
  }
  if (off === undefined || entry?.leasedUntil === undefined) {
    const leasedUntil = new Date(clock.now() + definition.minutes * 60_000 + leaseGraceMs).toISOString();
    const lease: CacheEntry = { holder: reference, leasedUntil };
    if (!(await pipelines.putCached(key, lease, entry)) && off === undefined)
      return { next: "poll", seconds: firstPollSeconds };
  }
  const last = await pipelines.lastKey(run.pipeline, reference.step);
  const changes = last && changesOf(last.parts, parts);
  const reason =
    off ??
    damaged ??
    (last === undefined ? "the first time" : changes || `the output of run ${last.pipelineRunId} is not kept`);
  if (await record({ why: `miss: ${reason}` })) return undefined;
  // It was cancelled in the meantime.
  await releaseLease(dependencies, reference, key);
  return { next: "done" };
}
