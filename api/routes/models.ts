import { InvalidInputError } from "../../core/errors";
import { aliasNotFound } from "../../core/registry/errors";
import { deleteAlias, deleteTag, describe, setAlias, setTag, suggestSemver } from "../../core/registry/labels";
import { deleteModel, restoreModel } from "../../core/registry/lifecycle";
import type { HistoryEntry, Model } from "../../core/registry/model";
import { productionTag } from "../../core/registry/production";
import type { ModelRepository } from "../../core/registry/repository";
import { defineReplyRoute, defineRoute } from "../http/route";
import * as operations from "../operations/models";
import { withLoggedMetrics } from "../services/logged-metrics";
import { withNext } from "../services/next-steps";
import { served } from "../services/served";

interface HistoryPage {
  /** Newest first. */
  readonly items: readonly HistoryEntry[];
  readonly nextToken?: string;
}

/**
 * Entries are numbered and never change, so pages are complete whatever is added in between. @throws InvalidInputError
 */
export async function historyPage(
  repository: Pick<ModelRepository, "historyBetween">,
  { name, revision }: Pick<Model, "name" | "revision">,
  { limit, nextToken }: { readonly limit: number; readonly nextToken?: string },
): Promise<HistoryPage> {
  const until = nextToken === undefined ? revision : Number(nextToken);
  if (nextToken !== undefined && (!/^[1-9]\d*$/.test(nextToken) || until > revision)) {
    const rule = "must be the nextToken of an earlier page of this model's history";
    throw new InvalidInputError("the page cannot be listed", [{ path: "nextToken", value: nextToken, rule }]);
  }
  const from = Math.max(1, until - limit + 1);
  const items = (await repository.historyBetween(name, from, until)).toReversed();
  return { items, ...(from > 1 && { nextToken: String(from - 1) }) };
}

/** Number of history entries in the response of a model; the others have a list of their own. */
const newest = 100;
/** Number of newest versions with their next step, because each may need a read of a run. */
const withNextStep = 20;

export const modelRoutes = [
  defineRoute(operations.listModels, async ({ platform: { registry } }) => ({ models: await registry.list() })),

  defineRoute(operations.createModel, async ({ platform: { registry, team }, body, actorFor, onceFor }) => {
    const { name, reason, ...labels } = body;
    return { model: await registry.create(team, name, labels, actorFor(reason), onceFor("create")) };
  }),

  defineRoute(operations.getModel, async ({ platform, params: { name } }) => {
    const { registry } = platform;
    const { model, versions } = await registry.details(name);
    const [{ items, nextToken }, shown] = await Promise.all([
      historyPage(registry.repository, model, { limit: newest }),
      Promise.all(
        versions.map((version, at) => (at < withNextStep ? withNext(platform, model, version) : version)),
      ).then((all) => withLoggedMetrics(platform, all)),
    ]);
    const suggestedSemver = suggestSemver(versions.flatMap(({ semver }) => semver ?? []));
    const history = { history: items.toReversed(), ...(nextToken && { historyNextToken: nextToken }) };
    return { model, versions: shown, ...history, suggestedSemver };
  }),

  defineRoute(operations.listModelHistory, async ({ platform: { registry }, params: { name }, query }) =>
    historyPage(registry.repository, await registry.head(name), query),
  ),

  defineReplyRoute(operations.getProductionModel, async ({ platform, params: { name }, headers: given }) => {
    const { resolved, source } = await served(platform.production, name);
    const etag = productionTag(resolved);
    const headers = { etag, "cache-control": "private, max-age=0, must-revalidate", "ringmaster-source": source };
    if (matches(given["If-None-Match"], etag)) return { response: new Response(null, { status: 304, headers }) };
    return { status: 200, body: resolved, headers };
  }),

  defineRoute(operations.describeModel, async ({ platform: { registry }, params: { name }, body, actorFor }) => ({
    model: await registry.apply(name, [], describe(undefined, body.description, actorFor(body.reason))),
  })),

  defineRoute(operations.tagModel, async ({ platform: { registry }, params: { name }, body, actorFor }) => ({
    model: await registry.apply(name, [], setTag(undefined, body.key, body.value, actorFor(body.reason))),
  })),

  defineRoute(operations.untagModel, async ({ platform: { registry }, params: { name }, query, actorFor }) => ({
    model: await registry.apply(name, [], deleteTag(undefined, query.key, actorFor(query.reason))),
  })),

  defineRoute(operations.getModelAlias, async ({ platform: { registry }, params: { name, alias } }) => {
    const { aliases } = await registry.head(name);
    const version = Object.hasOwn(aliases, alias) ? aliases[alias] : undefined;
    if (version === undefined) throw aliasNotFound(name, alias);
    return { version: await registry.version(name, version) };
  }),

  defineRoute(
    operations.setModelAlias,
    async ({ platform: { registry }, params: { name, alias }, body, actorFor }) => ({
      model: await registry.apply(name, [body.version], setAlias(alias, body.version, actorFor(body.reason))),
    }),
  ),

  defineRoute(
    operations.deleteModelAlias,
    async ({ platform: { registry }, params: { name, alias }, query, actorFor }) => ({
      model: await registry.apply(name, [], deleteAlias(alias, actorFor(query.reason))),
    }),
  ),

  defineRoute(operations.deleteModel, async ({ platform: { registry }, params: { name }, query, actorFor }) => ({
    model: await registry.apply(name, [], deleteModel(actorFor(query.reason))),
  })),

  defineRoute(operations.restoreModel, async ({ platform: { registry }, params: { name }, body, actorFor }) => ({
    model: await registry.apply(name, [], restoreModel(actorFor(body.reason))),
  })),
];

/** Tests whether a header matches an entity tag. RFC 9110, 13.1.2: a list of tags, weak or strong, or `*`. */
function matches(header: string | undefined, etag: string): boolean {
  const tags = header?.split(",").map((tag) => tag.trim().replace(/^W\//, "")) ?? [];
  return tags.includes("*") || tags.includes(etag);
}
