import { mapLimited } from "../each-limited";
import { isoTime } from "../ports";
import { advance, cancelAwaited, isSameStep, itemsDone, releaseLease, startStep } from "./advance";
import { loadStep, readOutput, type Step, storeOutput } from "./context";
import { isOfType, stepsOf } from "./plan";
import type { PipelineDependencies } from "./ports";
import { pathOf, referenceOf, type StepFailure, type StepReference, type StepState } from "./records";

/** The end of an attempt of a step. */
export type StepEnd =
  | {
      readonly status: "succeeded";
      readonly output?: unknown;
      /** The output as JSON in the content store, if it is too large for an answer. */
      readonly outputSha256?: string;
      readonly why?: string;
    }
  | { readonly status: "skipped"; readonly why: string }
  | { readonly status: "failed"; readonly failure: StepFailure };

const maxMessage = 2_000;
const [firstRetrySeconds, maxRetrySeconds] = [1, 300];

/**
 * Records the end of a step's attempt and continues its run. Idempotent: the first end of an attempt stays, and a
 * repetition only continues the run.
 * @returns the seconds to wait before the next attempt, if there is one
 */
export async function endStep(
  dependencies: PipelineDependencies,
  reference: StepReference,
  end: StepEnd,
  attempt?: number,
): Promise<{ readonly retryAfter?: number }> {
  const step = await loadStep(dependencies, reference);
  const { state, plan, run } = step;
  if (state.status !== "running" || (attempt !== undefined && attempt !== state.attempt)) {
    await continueAfter(dependencies, step);
    return {};
  }
  const definition = stepsOf(plan).get(reference.step)!;
  const checked =
    end.status === "succeeded"
      ? checkedEnd({ ...end, output: await readOutput(dependencies.objects, end) }, definition.output)
      : end;
  const { pipelines, clock } = dependencies;
  if (checked.status === "failed" && state.waitsFor) await cancelAwaited(dependencies, state.waitsFor, reference);
  if (checked.status === "failed" && state.attempt <= definition.retries && run.stopping === undefined) {
    await releaseLease(dependencies, reference, state.key);
    await pipelines.updateStep(
      reference.pipelineRunId,
      { ...state, attempt: state.attempt + 1, failure: short(checked.failure) },
      state.attempt,
    );
    return { retryAfter: Math.min(maxRetrySeconds, firstRetrySeconds * 2 ** (state.attempt - 1)) };
  }
  const { waitsFor: _, failure: __, ...rest } = state;
  const ended = { ...rest, endedAt: isoTime(clock) };
  if (checked.status === "succeeded") {
    const stored = await storeOutput(dependencies.objects, checked.output);
    await keepOutput(dependencies, step, stored);
    await pipelines.updateStep(
      reference.pipelineRunId,
      { ...ended, ...stored, status: "succeeded", why: checked.why ?? state.why },
      state.attempt,
    );
  } else if (checked.status === "skipped") {
    await pipelines.updateStep(
      reference.pipelineRunId,
      { ...ended, status: "skipped", why: checked.why },
      state.attempt,
    );
  } else {
    await releaseLease(dependencies, reference, state.key);
    await pipelines.updateStep(
      reference.pipelineRunId,
      { ...ended, status: "failed", failure: short(checked.failure) },
      state.attempt,
    );
  }
  await continueAfter(dependencies, step);
  return {};
}

const short = ({ code, message }: StepFailure): StepFailure => ({
  code: code.slice(0, 200),
  message: message.slice(0, maxMessage),
});

function checkedEnd(
  end: StepEnd & { readonly status: "succeeded" },
  types: Readonly<Record<string, Parameters<typeof isOfType>[1]>> | undefined,
): StepEnd {
  const output = end.output as Readonly<Record<string, unknown>> | null;
  for (const [field, type] of Object.entries(types ?? {})) {
    const value = output?.[field];
    if (isOfType(value, type)) continue;
    const message = `the output's field ${field} must be of type ${type}, as the definition says, but is ${JSON.stringify(value)?.slice(0, 200)}`;
    return { status: "failed", failure: { code: "OUTPUT_INVALID", message } };
  }
  return end;
}

/** Continues the run, or the `forEach` of an item, after a step's end. */
async function continueAfter(dependencies: PipelineDependencies, { run, plan, reference }: Step): Promise<void> {
  if (reference.item !== undefined) {
    const end = await continueItems(dependencies, run.pipelineRunId, reference.step, plan.onFailure);
    if (end) await endStep(dependencies, referenceOf(run, reference.step), end);
    return;
  }
  await advance(dependencies, run.pipelineRunId);
}

/** Starts the next item of a `forEach`. @returns the end of the whole step once all its items have ended */
async function continueItems(
  dependencies: PipelineDependencies,
  id: string,
  step: string,
  onFailure: string,
): Promise<StepEnd | undefined> {
  const { pipelines, objects } = dependencies;
  const whole = await pipelines.findStep({ pipelineRunId: id, step });
  if (whole?.status !== "running" || !whole.map) return undefined;
  const { total, next, ended, failed } = whole.map;
  const stops = failed > 0 && onFailure === "stop";
  if (!stops && next < total) {
    const item = await pipelines.claimItem(id, step);
    if (item < total) {
      await startStep(dependencies, { pipelineRunId: id, step, item });
      return undefined;
    }
  }
  if (ended < (stops ? Math.min(next, total) : total)) return undefined;
  const items = await itemsDone(pipelines, id, step);
  if (failed > 0) {
    const first = items.find(({ status }) => status === "failed");
    const message = `${failed} of ${total} items failed; ${first ? `${pathOf(first)}: ${first.failure?.message}` : ""}`;
    return { status: "failed", failure: { code: first?.failure?.code ?? "ITEM_FAILED", message } };
  }
  return { status: "succeeded", output: await mapLimited(items, 16, (item) => readOutput(objects, item)) };
}

/** Puts an output into the cache in place of the lease. */
async function keepOutput(
  { pipelines }: PipelineDependencies,
  { run, reference, state }: Step,
  stored: Pick<StepState, "output" | "outputSha256">,
): Promise<void> {
  const { key, keyParts } = state;
  if (key === undefined) return;
  const entry = await pipelines.findCached(key);
  if (entry?.leasedUntil !== undefined && isSameStep(entry.holder, reference))
    await pipelines.putCached(key, { holder: reference, ...stored }, entry);
  if (keyParts)
    await pipelines.putLastKey(run.pipeline, reference.step, { pipelineRunId: run.pipelineRunId, parts: keyParts });
}
