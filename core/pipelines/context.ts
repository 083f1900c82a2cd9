import * as z from "zod";
import { BoundedMap } from "../bounded-map";
import { type DocumentKind, getJsonContent } from "../object-documents";
import type { ObjectStore } from "../ports";
import { pipelineDefinition, pipelineLimits } from "./definition";
import { type ExpressionContext, expressionsIn, referencesOf } from "./expressions";
import { type Plan, stepsOf } from "./plan";
import type { PipelineDependencies, PipelineRepository } from "./ports";
import { pipelineRunNotFound, stepNotFound } from "./ports";
import { type PipelineRun, pathOf, type StepReference, type StepState } from "./records";

/** Size up to which a value is in its row. Larger ones are in the content store. */
const inlineBytes = 16 * 1024;
const maxValueBytes = 32 * 1024 * 1024;

const planDocument: DocumentKind<Plan> = {
  name: "a pipeline's plan",
  schema: pipelineDefinition,
  maxBytes: 4 * pipelineLimits.bytes,
};
const valueDocument: DocumentKind<unknown> = { name: "a step's value", schema: z.unknown(), maxBytes: maxValueBytes };

type Stored = Pick<StepState, "output" | "outputSha256">;

export async function storeOutput(objects: Pick<ObjectStore, "putContent">, output: unknown): Promise<Stored> {
  const text = JSON.stringify(output ?? null);
  if (Buffer.byteLength(text) <= inlineBytes) return { output: JSON.parse(text) };
  return { outputSha256: (await objects.putContent(text, "application/json")).sha256 };
}

/** @throws ObjectNotFoundError, CorruptObjectError */
export const readOutput = async (
  objects: Pick<ObjectStore, "getContent">,
  { output, outputSha256 }: Stored,
): Promise<unknown> => (outputSha256 === undefined ? output : getJsonContent(objects, outputSha256, valueDocument));

export const readItems = async (objects: Pick<ObjectStore, "getContent">, itemsSha256: string) =>
  (await getJsonContent(objects, itemsSha256, valueDocument)) as readonly unknown[];

const plans = new BoundedMap<string, Plan>(32);

/** A plan never changes, and each step of its runs reads it: a plan of 2,000 steps takes some 20 ms to check. */
export async function readPlan(
  objects: Pick<ObjectStore, "getContent">,
  { planSha256 }: Pick<PipelineRun, "planSha256">,
): Promise<Plan> {
  const plan = plans.get(planSha256) ?? (await getJsonContent(objects, planSha256, planDocument));
  plans.set(planSha256, plan);
  return plan;
}

/** Everything known of one step when it begins or ends. */
export interface Step {
  readonly run: PipelineRun;
  readonly plan: Plan;
  readonly reference: StepReference;
  readonly state: StepState;
}

/** @throws PIPELINE_RUN_NOT_FOUND, PIPELINE_STEP_NOT_FOUND */
export async function loadStep({ pipelines, objects }: PipelineDependencies, reference: StepReference): Promise<Step> {
  const [run, state] = await Promise.all([pipelines.findRun(reference.pipelineRunId), pipelines.findStep(reference)]);
  if (!run) throw pipelineRunNotFound(reference.pipelineRunId);
  if (!state) throw stepNotFound(reference.pipelineRunId, pathOf(reference));
  return { run, state, reference, plan: await readPlan(objects, run) };
}

/** Reads what the expressions of a step name: the outputs of other steps, the run, and the item of `forEach`. */
export async function contextOf(
  {
    pipelines,
    objects,
  }: {
    readonly pipelines: Pick<PipelineRepository, "findStep" | "steps">;
    readonly objects: Pick<ObjectStore, "getContent">;
  },
  { run, plan, reference: { step, item } }: Omit<Step, "state">,
): Promise<ExpressionContext> {
  const { pipelineRunId, parameters, pipeline, createdAt, failure, stopping } = run;
  const references = expressionsIn(stepsOf(plan).get(step), "").flatMap(({ text }) => referencesOf(text));
  const names = new Set(references.flatMap(({ root, name }) => (root === "steps" && name !== undefined ? [name] : [])));
  const steps = await Promise.all(
    [...names].map(async (name) => {
      const state = await pipelines.findStep({ pipelineRunId, step: name });
      return [
        name,
        { output: state && (await readOutput(objects, state)), status: state?.status ?? "not-reached" },
      ] as const;
    }),
  );
  /** The first failure of a step, for the steps of `finally`. */
  const failureOf = async () => {
    if (!references.some(({ root }) => root === "run")) return undefined;
    const failed = (await pipelines.steps(pipelineRunId)).find(({ status }) => status === "failed");
    return failed?.failure && { ...failed.failure, step: failed.step };
  };
  const map = item === undefined ? undefined : (await pipelines.findStep({ pipelineRunId, step }))?.map;
  const items = map && (await readItems(objects, map.itemsSha256));
  return {
    parameters,
    steps: Object.fromEntries(steps),
    run: { id: pipelineRunId, pipeline, createdAt, failure: failure ?? stopping?.failure ?? (await failureOf()) },
    ...(items && item !== undefined ? { item: items[item], index: item } : {}),
  };
}
