import * as z from "zod";
import { digestOf } from "../../core/digest";
import { InvalidInputError } from "../../core/errors";
import { createJson, type DocumentKind, getJson } from "../../core/object-documents";
import { objectKeys } from "../../core/object-keys";
import { type Clock, isoTime, type ObjectStore } from "../../core/ports";
import * as approvals from "../../core/registry/approval-requests";
import type { Model } from "../../core/registry/model";
import { armStates, decideCanaries, type ServingDependencies, setTraffic } from "../../core/registry/serving/decide";
import { routesOf, trafficOf } from "../../core/registry/serving/traffic";
import { instant, type Shape } from "../../core/shapes";
import { defineReplyRoute, defineRoute } from "../http/route";
import * as operations from "../operations/serving";
import { shadowObservation, type shadowSummary } from "../schemas/serving";
import { served } from "../services/served";

export type ShadowObservation = Shape<typeof shadowObservation>;
type ModelOutput = ShadowObservation["served"];

const reportSchema = z.object({ at: instant, observations: z.array(shadowObservation) });
const report: DocumentKind<Shape<typeof reportSchema>> = {
  name: "a report of a shadow",
  schema: reportSchema,
  maxBytes: 2 ** 26,
};

type LogStore = Pick<ObjectStore, "putNew" | "find" | "list">;

/** Number of reports in a summary, the newest first. */
const maxReports = 200;
const examplesShown = 10;

/** Stores a shadow's predictions. Idempotent: a repeated request overwrites its own report. */
export async function logShadow(
  { objects, clock }: { readonly objects: LogStore; readonly clock: Clock },
  model: string,
  version: number,
  observations: readonly ShadowObservation[],
): Promise<{ readonly stored: boolean }> {
  const at = isoTime(clock);
  const key = objectKeys.shadowReport(model, version, at.slice(0, 10), digestOf(observations));
  const { created } = await createJson(
    objects,
    key,
    report,
    { at, observations },
    { essence: (each) => each.observations },
  );
  return { stored: created };
}

export async function summarizeShadow(
  objects: LogStore,
  model: string,
  version: number,
): Promise<Shape<typeof shadowSummary>> {
  const listed = await objects.list(objectKeys.shadowPrefix(model, version));
  // A report that is repeated after midnight is stored under two days.
  const keys = [...new Map(listed.toReversed().map((key) => [key.slice(key.lastIndexOf("/")), key])).values()].sort();
  const reports = await Promise.all(keys.slice(-maxReports).map((key) => getJson(objects, key, report)));
  const observations = reports.flatMap((each) => each.observations);
  const differences = observations.map((observation) => ({ observation, difference: differenceOf(observation) }));
  const numbers = differences.filter(({ observation }) => isNumberPair(observation));
  const classes = differences.filter(({ observation }) => !isNumberPair(observation));
  const examples = differences
    .filter(({ difference }) => difference > 0)
    .sort((a, b) => b.difference - a.difference)
    .slice(0, examplesShown)
    .map(({ observation }) => observation);
  return {
    version,
    observations: observations.length,
    ...(classes.length === 0
      ? {}
      : { agreement: classes.filter(({ difference }) => difference === 0).length / classes.length }),
    ...(numbers.length === 0
      ? {}
      : { meanAbsoluteDifference: numbers.reduce((sum, { difference }) => sum + difference, 0) / numbers.length }),
    examples,
    truncated: keys.length > maxReports,
  };
}

/** Returns 0 if both agree; for numbers their distance, for classes 1. */
function differenceOf({ served, shadow }: ShadowObservation): number {
  if (typeof served === "number" && typeof shadow === "number") return Math.abs(served - shadow);
  return classOf(served) === classOf(shadow) ? 0 : 1;
}

function isNumberPair({ served, shadow }: ShadowObservation): boolean {
  return typeof served === "number" && typeof shadow === "number";
}

/** Returns the index of the greatest probability, the first of equals. */
function classOf(output: ModelOutput): string | number | boolean {
  return typeof output === "object" ? output.indexOf(Math.max(...output)) : output;
}

async function stateOf(dependencies: ServingDependencies, model: Model) {
  return {
    model: model.name,
    champion: model.production,
    traffic: trafficOf(model),
    arms: await armStates(dependencies, model),
  };
}

export const servingRoutes = [
  defineRoute(operations.getTraffic, async ({ platform, params: { name } }) =>
    stateOf(platform, await platform.registry.head(name)),
  ),

  defineRoute(operations.setTraffic, async ({ platform, params: { name }, body, actorFor }) => {
    const { reason, ...requested } = body;
    const named = [...requested.canaries.map(({ version }) => version), ...requested.shadows];
    const model = await platform.registry.apply(name, named, setTraffic(requested, actorFor(reason)));
    // A run whose test has ended must not wait for it.
    await approvals.answerAll(platform, name);
    return stateOf(platform, model);
  }),

  defineReplyRoute(operations.routeUnits, async ({ platform, params: { name }, body }) => {
    const { resolved, source } = await served(platform.routing, name);
    return { status: 200, body: routesOf(resolved, body.units), headers: { "ringmaster-source": source } };
  }),

  defineRoute(operations.reportOutcomes, async ({ platform, params: { name }, body, actor }) => {
    const { epoch, outcomes } = body;
    const model = await platform.registry.head(name);
    const { test, ...traffic } = trafficOf(model);
    checkValues(test?.kind, outcomes);
    if (epoch !== traffic.epoch || traffic.canaries.length === 0) {
      return { counted: 0, repeated: 0, stale: outcomes.length, decisions: [] };
    }
    const { assignments } = routesOf(
      model,
      outcomes.map(({ unit }) => unit),
    );
    // The version to which the unit was assigned. The test compares assignments, whatever happened afterwards.
    const reported = outcomes.map((outcome, i) => ({ ...outcome, version: assignments[i]!.version }));
    const answer = await platform.outcomes.report(name, epoch, reported, platform.clock.now());
    const decisions = test?.act === "automatic" ? await decideCanaries(platform, name, `test of ${actor}`) : [];
    return { ...answer, stale: 0, decisions };
  }),

  defineRoute(operations.decideTraffic, async ({ platform, params: { name }, actor }) => ({
    decisions: await decideCanaries(platform, name, actor),
  })),

  defineRoute(operations.logShadow, async ({ platform, params: { name, version }, body }) => {
    await platform.registry.version(name, version);
    return logShadow(platform, name, version, body.observations);
  }),

  defineRoute(operations.getShadow, async ({ platform, params: { name, version } }) => {
    await platform.registry.version(name, version);
    return summarizeShadow(platform.objects, name, version);
  }),
];

function checkValues(kind: "binary" | "mean" | undefined, outcomes: readonly { readonly value: number }[]): void {
  if (kind !== "binary") return;
  const problems = outcomes.flatMap(({ value }, i) =>
    value === 0 || value === 1
      ? []
      : [{ path: `outcomes.${i}.value`, value, rule: "must be 0 or 1: the test's kind is binary" }],
  );
  if (problems.length > 0) throw new InvalidInputError("the request body", problems);
}
