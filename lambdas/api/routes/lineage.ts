import { randomBytes } from "node:crypto";
import * as contracts from "../../../core/api/contracts/lineage";
import { compareRuns } from "../../../core/tracking/reproduce/compare";
import { NothingToCompareError } from "../../../core/tracking/reproduce/errors";
import { reproduceRun } from "../../../core/tracking/reproduce/reproduce";
import { walkOf } from "../../../core/tracking/reproduce/walk";
import { RunNotFoundError } from "../../../core/training/errors";
import { defineRoute } from "../route";

const randomId = (): string => randomBytes(8).toString("hex");

export const lineageRoutes = [
  defineRoute(contracts.reproduceTrainingRun, async ({ platform, params: { runId }, actor, idempotencyKey }) => {
    const { team, logger } = platform;
    const run = await reproduceRun({ ...platform, randomId }, { runId, team, actor, idempotencyKey });
    logger.log("info", "run submitted", { runId: run.runId, reproducedFrom: runId });
    return { status: 201, body: { run } };
  }),

  defineRoute(contracts.getReproduction, async ({ platform, params: { runId }, query }) => {
    const detailsOf = async (id: string) => {
      const details = await platform.runs.findDetails(id);
      if (!details) throw new RunNotFoundError(id);
      return details;
    };
    const reproduction = await detailsOf(runId);
    const of = query.of ?? reproduction.run.reproducedFrom;
    if (of === undefined) throw new NothingToCompareError(runId);
    return {
      status: 200,
      body: { reproduction: await compareRuns(reproduction, await detailsOf(of), walkOf(platform)) },
    };
  }),
];
