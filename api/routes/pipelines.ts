import { randomBytes } from "node:crypto";
import type { Platform } from "../../adapters/platform";
import { submittersOf } from "../../core/access/principals";
import { readOutput, readPlan } from "../../core/pipelines/context";
import { kindOf } from "../../core/pipelines/definition";
import { stepsOf } from "../../core/pipelines/plan";
import { pipelineRunNotFound, stepNotFound } from "../../core/pipelines/ports";
import {
  cancelPipelineRun,
  pipelinePorts,
  pushPipeline,
  resumePipelineRun,
  startPipelineRun,
} from "../../core/pipelines/start";
import { functionRule } from "../../platform/user-functions";
import { defineReplyRoute, defineRoute } from "../http/route";
import { allOperations } from "../operations";
import * as operations from "../operations/pipelines";

const operationRule = (id: string) =>
  allOperations.some(({ operationId }) => operationId === id)
    ? undefined
    : "must be the id of an operation of this API";

const portsOf = (platform: Platform) => pipelinePorts({ ...platform, randomId: () => randomBytes(8).toString("hex") });

export const pipelineRoutes = [
  defineReplyRoute(operations.pushPipeline, async ({ platform, body, caller, actor }) => {
    const author = { actor, ...submittersOf(caller) };
    const pushed = await pushPipeline(platform, body, author, {
      function: functionRule(platform.config),
      operation: operationRule,
    });
    return { status: pushed.created ? 201 : 200, body: pushed };
  }),

  defineRoute(operations.listPipelines, ({ platform: { pipelines }, query }) => pipelines.listVersions(query)),

  defineRoute(operations.startPipelineRun, async ({ platform, body, caller, actor, idempotencyKey }) => {
    const { pipeline_id: pipeline, version, config: parameters, no_cache: noCache } = body;
    const author = { actor, ...submittersOf(caller) };
    return {
      run: await startPipelineRun(portsOf(platform), {
        pipeline,
        version,
        parameters,
        noCache,
        idempotencyKey,
        ...author,
      }),
    };
  }),

  defineRoute(operations.listPipelineRuns, ({ platform: { pipelines }, query: { pipeline, ...page } }) =>
    pipelines.listRuns(pipeline, page),
  ),

  defineRoute(operations.getPipelineRun, async ({ platform: { pipelines, objects }, params: { pipelineRunId } }) => {
    const run = await pipelines.findRun(pipelineRunId);
    if (!run) throw pipelineRunNotFound(pipelineRunId);
    const [plan, states] = await Promise.all([readPlan(objects, run), pipelines.steps(pipelineRunId)]);
    const byName = new Map(states.map(({ input: _, output: __, keyParts: ___, ...state }) => [state.step, state]));
    const steps = [...stepsOf(plan)].map(([name, step]) => ({
      ...{ name, kind: kindOf(step), after: step.after ?? [], final: Object.hasOwn(plan.finally, name) },
      state: byName.get(name),
    }));
    return { run, steps };
  }),

  defineRoute(operations.getPipelineStep, async ({ platform: { pipelines, objects }, params, query: { item } }) => {
    const state = await pipelines.findStep({ ...params, item });
    if (!state) throw stepNotFound(params.pipelineRunId, params.step);
    return { state, output: await readOutput(objects, state) };
  }),

  defineRoute(operations.listPipelineItems, async ({ platform: { pipelines }, params, query }) => {
    const { pipelineRunId, step } = params;
    if (!(await pipelines.findStep(params))) throw stepNotFound(pipelineRunId, step);
    return pipelines.items(pipelineRunId, step, query);
  }),

  defineRoute(
    operations.resumePipelineRun,
    async ({ platform, params, body: { newest }, caller, actor, idempotencyKey }) => ({
      run: await resumePipelineRun(portsOf(platform), params.pipelineRunId, {
        newest,
        actor,
        idempotencyKey,
        ...submittersOf(caller),
      }),
    }),
  ),

  defineRoute(operations.cancelPipelineRun, async ({ platform, params, actor }) => ({
    run: await cancelPipelineRun(portsOf(platform), params.pipelineRunId, actor),
  })),
];
