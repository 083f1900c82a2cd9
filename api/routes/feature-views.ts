import type { Platform } from "../../adapters/platform";
import { readOnline } from "../../core/feature-store/online";
import { registerView, resolveView } from "../../core/feature-store/registry";
import type { ViewVersion } from "../../core/feature-store/shapes";
import { checkStreamedRows, registerBatch } from "../../core/feature-store/stream";
import { isoTime } from "../../core/ports";
import { defineReplyRoute, defineRoute } from "../http/route";
import { productionUsesOf, usesOfView } from "../lineage/of-view";
import * as operations from "../operations/feature-views";

export const featureViewRoutes = [
  defineReplyRoute(operations.registerFeatureView, async ({ platform, body, actor }) => {
    const { definition, allowIncompatible } = body;
    const productionUses = () => productionUsesOf(platform, definition.name);
    const registered = await registerView(platform, definition, { allowIncompatible, by: actor, productionUses });
    return { status: registered.created ? 201 : 200, body: registered };
  }),

  defineRoute(operations.listFeatureViews, ({ platform: { views }, query }) => views.list(query)),

  defineRoute(operations.getFeatureView, async ({ platform, params: { view } }) =>
    withState(platform, await resolveView(platform.views, view)),
  ),

  defineRoute(operations.getFeatureViewVersion, async ({ platform, params: { view, version } }) =>
    withState(platform, await resolveView(platform.views, `${view}@${version}`)),
  ),

  defineRoute(operations.listFeatureViewVersions, async ({ platform: { views }, params: { view }, query }) => {
    await resolveView(views, view);
    return views.listVersions(view, query);
  }),

  defineRoute(operations.listFeatureViewUses, async ({ platform, params: { view }, query }) => {
    const { name } = await resolveView(platform.views, view);
    return usesOfView(platform, name, query);
  }),

  defineReplyRoute(operations.registerFeatureBatch, async ({ platform, params: { view }, body, actor }) => {
    const registered = await registerBatch(platform, view, body, actor);
    return { status: registered.created ? 201 : 200, body: registered };
  }),

  defineRoute(operations.listFeatureBatches, async ({ platform, params: { view }, query }) => {
    const { version, ...page } = query;
    const { name, generation } = await resolveView(platform.views, version === undefined ? view : `${view}@${version}`);
    return platform.batches.list({ name, generation }, page);
  }),

  defineRoute(operations.materializeFeatureView, async ({ platform, params }) => {
    const { team, clock, runEvents, views, batches } = platform;
    const { name, generation } = await resolveView(views, params.view);
    const state = await batches.state({ name, generation });
    await runEvents.publishViewDue({ at: isoTime(clock), team, view: name });
    return state;
  }),

  defineRoute(operations.sendFeatureRows, async ({ platform, params, body: { rows } }) => {
    const { team, clock, runEvents, views } = platform;
    const version = await resolveView(views, params.view);
    checkStreamedRows(version, rows, clock);
    await runEvents.publishFeatureRows({ at: isoTime(clock), team, view: version.name, rows });
    return { accepted: rows.length };
  }),

  defineRoute(operations.readOnlineFeatures, async ({ platform, body: { views, entities, fullNames } }) => {
    const { find, findRecent } = platform.views;
    const versions = await Promise.all(views.map((view) => resolveView({ find, findNewest: findRecent }, view)));
    return { rows: [...(await readOnline(platform, versions, entities, fullNames))] };
  }),
];

async function withState({ batches }: Platform, version: ViewVersion) {
  const { name, generation } = version;
  return { version, state: await batches.state({ name, generation }) };
}
