import { InvalidInputError } from "../../core/errors";
import { answerApprovals } from "../../core/registry/approval-requests";
import type { Model } from "../../core/registry/model";
import { armStates, decideCanaries, type ServingDependencies } from "../../core/registry/serving/decide";
import { setTraffic } from "../../core/registry/serving/set-traffic";
import { routesOf, trafficOf } from "../../core/registry/serving/traffic";
import * as contracts from "../contracts/serving";
import { defineReplyRoute, defineRoute } from "../http/route";
import { served } from "../services/served";
import { logShadow, summarizeShadow } from "../services/shadow-log";

async function stateOf(dependencies: ServingDependencies, model: Model) {
  return {
    model: model.name,
    champion: model.production,
    traffic: trafficOf(model),
    arms: await armStates(dependencies, model),
  };
}

export const servingRoutes = [
  defineRoute(contracts.getTraffic, async ({ platform, params: { name } }) =>
    stateOf(platform, await platform.registry.head(name)),
  ),

  defineRoute(contracts.setTraffic, async ({ platform, params: { name }, body, actorFor }) => {
    const { reason, ...requested } = body;
    const named = [...requested.canaries.map(({ version }) => version), ...requested.shadows];
    const model = await platform.registry.apply(name, named, setTraffic(requested, actorFor(reason)));
    // A run whose test has ended must not wait for it.
    await answerApprovals(platform, name);
    return stateOf(platform, model);
  }),

  defineReplyRoute(contracts.routeUnits, async ({ platform, params: { name }, body }) => {
    const { resolved, source } = await served(platform.routing, name);
    return { status: 200, body: routesOf(resolved, body.units), headers: { "ringmaster-source": source } };
  }),

  defineRoute(contracts.reportOutcomes, async ({ platform, params: { name }, body, actor }) => {
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

  defineRoute(contracts.decideTraffic, async ({ platform, params: { name }, actor }) => ({
    decisions: await decideCanaries(platform, name, actor),
  })),

  defineRoute(contracts.logShadow, async ({ platform, params: { name, version }, body }) => {
    await platform.registry.version(name, version);
    return logShadow(platform, name, version, body.observations);
  }),

  defineRoute(contracts.getShadow, async ({ platform, params: { name, version } }) => {
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
