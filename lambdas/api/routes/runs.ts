import { randomBytes } from "node:crypto";
import { z } from "zod";
import { encodeValue } from "../../../core/tracking/metric-values";
import { cancelRun } from "../../../core/training/cancel";
import { readCheckpoints, summaryOf } from "../../../core/training/checkpoint/list";
import { RunNotFoundError } from "../../../core/training/errors";
import { jobSchema } from "../../../core/training/job";
import { restoreRun } from "../../../core/training/restore";
import { submitRun } from "../../../core/training/submit";
import { createRoutes } from "../context";
import { pageQuery, readBody, readPath, readQuery } from "../input";

const submitBody = z.strictObject({
  job: jobSchema,
  code: z
    .strictObject({
      commit: z.string().max(200).optional(),
      dirty: z.boolean().optional(),
      moduleSha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .optional(),
    })
    .default({}),
  noCache: z.boolean().default(false),
});

const restorePath = z.object({ runId: z.string(), epoch: z.coerce.number().int().min(0).max(999_999_999) });
/** The job's schema judges the values. */
const restoreBody = z.strictObject({
  overrides: z
    .strictObject({
      hyperparameters: z.strictObject({ epochs: z.number().optional() }).optional(),
      resources: z
        .strictObject({
          workers: z.number().optional(),
          minWorkers: z.number().optional(),
          market: z.enum(["spot", "on-demand"]).optional(),
          memoryMbPerWorker: z.number().optional(),
        })
        .optional(),
      checkpoint: z.strictObject({ everySteps: z.number().optional(), keep: z.number().optional() }).optional(),
      retries: z.number().optional(),
    })
    .default({}),
  allowOtherNumerics: z.boolean().default(false),
});

const metricQuery = z.object({ metric: z.string().min(1).max(200).optional() });
const logQuery = z.object({
  worker: z.coerce.number().int().min(0).optional(),
  nextToken: z.string().max(4_096).optional(),
});

export const runRoutes = createRoutes();

runRoutes.post("/training-runs", async (context) => {
  const body = await readBody(context, submitBody);
  const platform = context.get("platform");
  const run = await submitRun(
    { ...platform, randomId: () => randomBytes(8).toString("hex") },
    {
      ...body,
      team: platform.team,
      actor: context.get("actor"),
      idempotencyKey: context.req.header("idempotency-key"),
    },
  );
  platform.logger.log("info", "run submitted", { runId: run.runId });
  return context.json({ run }, 201);
});

runRoutes.get("/training-runs", async (context) => {
  const { runs } = context.get("platform");
  return context.json(await runs.list(readQuery(context, pageQuery)));
});

runRoutes.get("/training-runs/:runId", async (context) => {
  const runId = context.req.param("runId");
  const details = await context.get("platform").runs.findDetails(runId);
  if (!details) throw new RunNotFoundError(runId);
  return context.json(details);
});

runRoutes.post("/training-runs/:runId/cancel", async (context) => {
  const run = await cancelRun(context.get("platform"), context.req.param("runId"), context.get("actor"));
  return context.json({ run });
});

runRoutes.get("/training-runs/:runId/checkpoints", async (context) => {
  const { runs, objects } = context.get("platform");
  const runId = context.req.param("runId");
  if (!(await runs.find(runId))) throw new RunNotFoundError(runId);
  return context.json({ checkpoints: (await readCheckpoints(objects, runId)).map(summaryOf) });
});

runRoutes.post("/training-runs/:runId/checkpoints/:epoch/restore", async (context) => {
  const { runId, epoch } = readPath(context, restorePath);
  const body = (await context.req.text()) === "" ? restoreBody.parse({}) : await readBody(context, restoreBody);
  const platform = context.get("platform");
  const run = await restoreRun(
    { ...platform, randomId: () => randomBytes(8).toString("hex") },
    {
      runId,
      epoch,
      ...body,
      team: platform.team,
      actor: context.get("actor"),
      idempotencyKey: context.req.header("idempotency-key"),
    },
  );
  platform.logger.log("info", "run restored", { runId: run.runId, restoredFrom: run.restoredFrom });
  return context.json({ run }, 201);
});

runRoutes.get("/training-runs/:runId/metrics", async (context) => {
  const { metrics, runs } = context.get("platform");
  const runId = context.req.param("runId");
  const { metric } = readQuery(context, metricQuery);
  if (!(await runs.find(runId))) throw new RunNotFoundError(runId);
  if (metric === undefined) return context.json({ metrics: await metrics.summaries(runId) });
  const points = await metrics.read(runId, metric);
  return context.json({ metric, points: points.map((point) => ({ ...point, value: encodeValue(point.value) })) });
});

runRoutes.get("/training-runs/:runId/logs", async (context) => {
  const { runs, logs } = context.get("platform");
  const runId = context.req.param("runId");
  const { worker, nextToken } = readQuery(context, logQuery);
  const details = await runs.findDetails(runId);
  if (!details) throw new RunNotFoundError(runId);
  return context.json(await logs.read(details.workers, { worker, nextToken }));
});
