import type { Platform } from "../../adapters/platform";
import { pipelinePorts, pushPipeline, startPipelineRun } from "../../core/pipelines/start";

/** Pushes a pipeline of one step, and starts a run of it that does not end. */
export async function startStoredPipeline(platform: Platform, pipeline: string) {
  const steps = { count: { api: { operation: "listStudies" }, forEach: [1, 2] } };
  const definition = { name: pipeline, parameters: { rows: { type: "integer", default: 1 } }, steps };
  await pushPipeline(platform, definition, { actor: "test" }, {});
  const ports = pipelinePorts({ ...platform, randomId: () => pipeline.padEnd(16, "0") });
  const { pipelineRunId } = await startPipelineRun(ports, { pipeline, parameters: {}, actor: "test" });
  return { pipeline, pipelineRunId, step: "count" };
}
