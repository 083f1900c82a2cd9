import { digestOf } from "../digest";
import { RingmasterError } from "../errors";
import { type Clock, isoTime } from "../ports";
import { runAlreadyEnded, runNotFound, stepPassed, stepUnreadable } from "./errors";
import type { RunPhases, RunSteps, StepCache } from "./run-repository";
import { isOpen, type Phase, type RunStepKind } from "./run-states";
import type { Run, RunDetails, StepRecord } from "./shapes";

/** Reads a stored output; `undefined` for one that is not as the step records it, e.g. by a module of the user. */
export function readOutput<Output>({ output: schema }: RunStepKind<Output>, output: unknown): Output | undefined {
  return schema.safeParse(output).data;
}

/**
 * One step of a run: a function of its inputs alone, so that equal inputs can reuse its output.
 *
 * `inputs` must include everything on which the output depends, by digest. The version increases whenever a change of
 * the code changes the output.
 */
export interface StepDefinition<Output> extends RunStepKind<Output> {
  readonly version: number;
  /** Returns JSON; its digest is the step's input hash. */
  inputs(run: Run, details: RunDetails): unknown;
  execute(run: Run, details: RunDetails, inputHash: string): Promise<Output>;
  /** False for steps whose inputs may change (the champion, an approval). They are executed every time. */
  readonly reusable: boolean;
}

export interface StepDependencies {
  readonly runs: RunSteps;
  readonly cache: StepCache;
  readonly clock: Clock;
}

export interface StepResult<Output> {
  readonly output: Output;
  readonly inputHash: string;
  readonly reusedFrom?: string;
}

/** Loads the run (or takes `read`), records its phase, and refuses a run that has ended. */
export async function beginStep(
  { runs, clock }: { readonly runs: RunPhases; readonly clock: Clock },
  runId: string,
  step: Phase,
  read?: RunDetails,
): Promise<RunDetails> {
  const details = read ?? (await runs.findDetails(runId));
  if (!details) throw runNotFound(runId);
  if (!isOpen(details.run.status)) throw runAlreadyEnded(runId, details.run.status);
  if (!(await runs.enterPhase(runId, step, isoTime(clock)))) {
    const now = await runs.find(runId);
    if (now && isOpen(now.status)) throw stepPassed(runId, step, now.phase);
    throw runAlreadyEnded(runId, now?.status ?? "gone");
  }
  return details;
}

export function inputHashOf(
  definition: Pick<StepDefinition<unknown>, "step" | "version" | "inputs">,
  details: RunDetails,
): string {
  return digestOf({
    step: definition.step,
    version: definition.version,
    inputs: definition.inputs(details.run, details),
  });
}

/**
 * Runs a step or reuses its output: this run's own if the function is invoked again, another run's if the inputs are
 * equal.
 *
 * A process that dies loses at most the work since the last write. Outputs are content-addressed; records are written
 * last and are deterministic.
 */
export async function runStep<Output>(
  dependencies: StepDependencies,
  runId: string,
  definition: StepDefinition<Output>,
): Promise<StepResult<Output>> {
  const open = await openStep(dependencies, runId, definition);
  return open.known ?? executeStep(dependencies, definition, open);
}

export interface OpenStep<Output> {
  readonly details: RunDetails;
  readonly inputHash: string;
  readonly startedAt: string;
  /** The step's result, if it need not be executed. */
  readonly known?: StepResult<Output>;
}

/** Enters a step, and looks for an output that can be reused. */
export async function openStep<Output>(
  dependencies: StepDependencies,
  runId: string,
  definition: StepDefinition<Output>,
  read?: RunDetails,
): Promise<OpenStep<Output>> {
  const { cache, clock } = dependencies;
  const startedAt = isoTime(clock);
  const details = await beginStep(dependencies, runId, definition.step, read);
  const inputHash = inputHashOf(definition, details);

  const open = { details, inputHash, startedAt };
  if (!definition.reusable) return open;
  const stepRecord = details.steps.find((record) => record.step === definition.step && record.inputHash === inputHash);
  const output = stepRecord && readOutput(definition, stepRecord.output);
  if (output) return { ...open, known: { output, inputHash, reusedFrom: stepRecord.reusedFrom } };

  const cached = details.run.noCache ? undefined : await findCached(cache, definition, inputHash);
  if (!cached) return open;
  return { ...open, known: await finishStep(dependencies, runId, definition, inputHash, cached, startedAt) };
}

/** Finds an output that a step can reuse. One that cannot be read is made again. */
export async function findCached<Output>(
  cache: Pick<StepCache, "find">,
  kind: RunStepKind<Output>,
  inputHash: string,
): Promise<{ readonly runId: string; readonly output: Output } | undefined> {
  const cached = await cache.find(kind.step, inputHash);
  const output = cached && readOutput(kind, cached.output);
  return output && { runId: cached.runId, output };
}

export async function executeStep<Output>(
  dependencies: StepDependencies,
  definition: StepDefinition<Output>,
  { details, inputHash, startedAt }: OpenStep<Output>,
): Promise<StepResult<Output>> {
  const { cache, clock } = dependencies;
  const { runId } = details.run;
  const output = await definition.execute(details.run, details, inputHash);
  const kept = { runId, output, at: isoTime(clock) };
  // A run without cache records its own output; the first output stays in the cache.
  if (definition.reusable) await cache.keep(definition.step, inputHash, kept);
  return finishStep(dependencies, runId, definition, inputHash, kept, startedAt);
}

/** Runs a step of a run that has ended, for a version of its model, or reuses an output. The run does not change. */
export async function runLaterStep<Output>(
  { cache, clock }: Pick<StepDependencies, "cache" | "clock">,
  details: RunDetails,
  definition: StepDefinition<Output>,
): Promise<Output> {
  const { step } = definition;
  const inputHash = inputHashOf(definition, details);
  const cachedStep = await findCached(cache, definition, inputHash);
  if (cachedStep) return cachedStep.output;
  const output = await definition.execute(details.run, details, inputHash);
  const kept = await cache.keep(step, inputHash, { runId: details.run.runId, output, at: isoTime(clock) });
  return readOutput(definition, kept.output) ?? output;
}

export async function finishStep<Output>(
  dependencies: StepDependencies,
  runId: string,
  definition: Pick<RunStepKind<Output>, "step">,
  inputHash: string,
  from: { readonly runId: string; readonly output: Output },
  startedAt: string,
): Promise<StepResult<Output>> {
  const reusedFrom = from.runId === runId ? undefined : from.runId;
  const record: StepRecord = {
    step: definition.step,
    inputHash,
    output: from.output,
    reusedFrom,
    startedAt,
    finishedAt: isoTime(dependencies.clock),
  };
  await dependencies.runs.recordStep(runId, record);
  return { output: from.output, inputHash, reusedFrom };
}

/** Returns an earlier step's output, which the state machine's order guarantees. @throws STEP_UNREADABLE */
export function outputOf<Output>(details: RunDetails, kind: RunStepKind<Output>): Output {
  const output = findOutput(details, kind);
  if (output === undefined) throw stepUnreadable(details.run.runId, kind.step);
  return output;
}

/** Returns a step's recorded output; `undefined` if the run has not reached it, or the record cannot be read. */
export function findOutput<Output>(
  { steps }: Pick<RunDetails, "steps">,
  kind: RunStepKind<Output>,
): Output | undefined {
  return readOutput(kind, steps.find(({ step }) => step === kind.step)?.output);
}

/** Errors that send a run back to an earlier step, by code. `CHAMPION_CHANGED`: another version was promoted. */
export const waysBack = [{ from: "Gate", code: "CHAMPION_CHANGED", to: "Evaluate" }] as const satisfies readonly {
  readonly from: Phase;
  readonly code: string;
  readonly to: Phase;
}[];

/** Executes a step. After an error of that list, the run may enter the earlier step again; the error is rethrown. */
export async function returnToEarlierStep<Result>(
  { runs, clock }: { readonly runs: Pick<RunPhases, "goBack">; readonly clock: Clock },
  runId: string,
  from: Phase,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const code = error instanceof RingmasterError ? error.code : undefined;
    const way = waysBack.find((each) => each.from === from && each.code === code);
    if (way) await runs.goBack(runId, from, way.to, isoTime(clock));
    throw error;
  }
}
