import { randomBytes } from "node:crypto";
import { runNotFound } from "../../core/runs/errors";
import { defineRoute } from "../http/route";
import { lineageOfContent, lineageOfDataset } from "../lineage/of-dataset";
import { lineageOfVersion } from "../lineage/of-version";
import * as operations from "../operations/lineage";
import { compareRuns } from "../reproduction/compare";
import { nothingToCompare, reproduceRun, walkOf } from "../reproduction/reproduce";

/** Number of runs for each dataset version that holds a content. */
const runsOfEach = 50;

const randomId = (): string => randomBytes(8).toString("hex");

export const lineageRoutes = [
  defineRoute(operations.reproduceTrainingRun, async ({ platform, params: { runId }, actor, idempotencyKey }) => {
    const { team, logger } = platform;
    const run = await reproduceRun({ ...platform, randomId }, { runId, team, actor, idempotencyKey });
    logger.log("info", "run submitted", { runId: run.runId, reproducedFrom: runId });
    return { run };
  }),

  defineRoute(operations.getReproduction, async ({ platform, params: { runId }, query }) => {
    const detailsOf = async (id: string) => {
      const details = await platform.runs.findDetails(id);
      if (!details) throw runNotFound(id, "training");
      return details;
    };
    const reproduction = await detailsOf(runId);
    const of = query.of ?? reproduction.run.reproducedFrom;
    if (of === undefined) throw nothingToCompare(runId);
    return { reproduction: await compareRuns(reproduction, await detailsOf(of), walkOf(platform)) };
  }),

  defineRoute(operations.getDatasetLineage, async ({ platform, params: { name, version }, query }) => ({
    lineage: await lineageOfDataset(platform, name, version, query),
  })),

  defineRoute(operations.getModelVersionLineage, async ({ platform, params: { name, version } }) => ({
    lineage: await lineageOfVersion(platform, await platform.registry.version(name, version)),
  })),

  defineRoute(operations.getContentLineage, async ({ platform, params: { sha256 } }) => ({
    lineage: await lineageOfContent(platform, sha256, runsOfEach),
  })),
];
