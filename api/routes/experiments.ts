import type { Platform } from "../../adapters/platform";
import { sha256 } from "../../core/digest";
import { InvalidInputError } from "../../core/errors";
import { isoTime } from "../../core/ports";
import { runNotFound } from "../../core/runs/errors";
import { defaultExperimentId } from "../../core/tracking/experiments";
import { experimentNotFound } from "../../core/tracking/records/errors";
import { withExperimentEdit } from "../../core/tracking/records/transitions";
import type { Experiment } from "../../core/tracking/shapes";
import { defineRoute, type Route } from "../http/route";
import * as operations from "../operations/experiments";
import { setLifecycle } from "../services/experiment-lifecycle";
import { viewOf } from "./tracked-runs";

type View = "active" | "deleted" | "all";

const inView =
  (view: View) =>
  ({ lifecycle }: { readonly lifecycle: Experiment["lifecycle"] }): boolean =>
    view === "all" || lifecycle === view;

export const experimentRoutes: readonly Route[] = [
  defineRoute(operations.createExperiment, async ({ platform, body, actor, idempotencyKey }) => {
    const request = idempotencyKey === undefined ? undefined : sha256(idempotencyKey);
    const experiment = await platform.experiments.create({ ...body, by: actor, at: isoTime(platform.clock), request });
    return { experiment };
  }),

  defineRoute(operations.listExperiments, async ({ platform, query: { name, ...page } }) => {
    if (name === undefined) return await experimentPage(platform, page);
    const experiment = await platform.experiments.findByName(name);
    return { experiments: experiment && inView(page.view)(experiment) ? [experiment] : [] };
  }),

  defineRoute(operations.getExperiment, async ({ platform, params: { experimentId } }) => ({
    experiment: await must(platform.experiments.find(experimentId), experimentId),
  })),

  defineRoute(operations.changeExperiment, async ({ platform, params: { experimentId }, body }) => {
    const at = isoTime(platform.clock);
    const { lifecycle, ...edit } = body;
    if (lifecycle === "deleted" && experimentId === defaultExperimentId) throw defaultStays();
    const experiment = await platform.experiments.change(experimentId, (before) =>
      withExperimentEdit(before, edit, at),
    );
    if (lifecycle === undefined || lifecycle === experiment.lifecycle) return { experiment };
    return { experiment: await setLifecycle(platform, experimentId, lifecycle) };
  }),

  defineRoute(operations.listExperimentRuns, async ({ platform, params: { experimentId }, query }) => {
    await must(platform.experiments.find(experimentId), experimentId);
    const { view, ...page } = query;
    const { runs, nextToken } = await platform.records.page(experimentId, page);
    return { runs: runs.filter(inView(view)), nextToken };
  }),

  defineRoute(operations.getExperimentRun, async ({ platform, params: { experimentId, runId } }) => {
    const identity = await platform.records.identify(runId);
    if (identity?.experimentId !== experimentId) throw runNotFound(runId);
    return viewOf(platform, runId);
  }),
];

/** Reads all experiments of a team: there are hundreds of them, compared with millions of runs. */
export async function experimentPage(
  { experiments: all }: Pick<Platform, "experiments">,
  { view, limit, nextToken }: { readonly view: View; readonly limit: number; readonly nextToken?: string },
) {
  const after = nextToken === undefined ? -1 : idInToken(nextToken);
  const rest = (await all.list()).filter(({ experimentId }) => Number(experimentId) > after).filter(inView(view));
  const experiments = rest.slice(0, limit);
  const last = experiments.at(-1);
  return { experiments, ...(last && rest.length > limit ? { nextToken: tokenOf(last) } : {}) };
}

/** Runs without an experiment belong to the default experiment. MLflow's clients rely on it. */
function defaultStays(): InvalidInputError {
  const rule = "must not be deleted for experiment 0, the default experiment of every team; delete its runs instead";
  return new InvalidInputError("the experiment cannot be deleted", [{ path: "lifecycle", value: "deleted", rule }]);
}

async function must(found: Promise<Experiment | undefined>, experimentId: string): Promise<Experiment> {
  const experiment = await found;
  if (!experiment) throw experimentNotFound({ experimentId });
  return experiment;
}

function tokenOf({ experimentId }: Experiment): string {
  return Buffer.from(`after ${experimentId}`).toString("base64url");
}

function idInToken(token: string): number {
  const id = /^after (\d+)$/.exec(Buffer.from(token, "base64url").toString("utf8"))?.[1];
  if (id !== undefined) return Number(id);
  const rule = "must be the nextToken of an earlier page";
  throw new InvalidInputError("the page cannot be listed", [{ path: "nextToken", value: token, rule }]);
}
