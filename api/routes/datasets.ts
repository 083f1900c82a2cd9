import { datasetNotFound } from "../../core/datasets/errors";
import { getDatasetVersion, resolveDataset } from "../../core/datasets/repository";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { mapLimited } from "../../core/each-limited";
import { hasCode, InvalidInputError, type Problem } from "../../core/errors";
import type { ViewRepository } from "../../core/feature-store/ports";
import { resolveView } from "../../core/feature-store/registry";
import type { ViewVersion } from "../../core/feature-store/shapes";
import { type OriginatedColumn, viewsOfColumns } from "../../core/feature-store/view-columns";
import { registerFrom } from "../../core/lineage/register-from";
import { isoTime } from "../../core/ports";
import * as contracts from "../contracts/datasets";
import { defineReplyRoute, defineRoute } from "../http/route";

const maxViews = 100;
const readsAtOnce = 8;

/**
 * Checks that views have the features which columns name, with the columns' types.
 *
 * @throws InvalidInputError with every problem
 */
async function checkOrigins(
  views: Pick<ViewRepository, "find" | "findNewest">,
  schema: readonly ColumnSchema[],
): Promise<void> {
  const named = [...viewsOfColumns(schema)];
  const refuse = (problems: readonly Problem[]) => new InvalidInputError("the columns' feature views", problems);
  if (named.length > maxViews) {
    throw refuse([{ path: "schema", value: named.length, rule: `must name at most ${maxViews} versions of views` }]);
  }
  const problems = await mapLimited(named, readsAtOnce, async ([reference, columns]) => {
    const found = await resolveView(views, reference).catch((error: unknown) => {
      if (hasCode(error, "FEATURE_VIEW_NOT_FOUND", "FEATURE_VIEW_VERSION_NOT_FOUND")) return error.message;
      throw error;
    });
    return columns.flatMap((column) => problemOf(column, reference, found));
  });
  if (problems.flat().length > 0) throw refuse(problems.flat().slice(0, 20));
}

function problemOf(
  { column, feature }: OriginatedColumn,
  view: string,
  found: ViewVersion | string,
): readonly Problem[] {
  const path = `columns.${column.name}.from`;
  if (typeof found === "string") return [{ path, value: view, rule: `must be a version of a feature view: ${found}` }];
  const known = found.features.find(({ name }) => name === feature);
  if (known === undefined) {
    const names = found.features.map(({ name }) => name).join(", ");
    return [{ path, value: feature, rule: `must be a feature of ${view}: ${names}` }];
  }
  if (known.type === column.type) return [];
  const rule = `must be ${known.type}, the type of ${feature} in ${view}; change the type in the schema file`;
  return [{ path: `columns.${column.name}.type`, value: column.type, rule }];
}

export const datasetRoutes = [
  defineReplyRoute(contracts.registerDatasetVersion, async ({ platform, params: { name }, body, actor }) => {
    const { draft, allowSchemaChange, sources, warnings } = body;
    if (draft.name !== name) {
      const rule = `must be the name in the path: ${name}`;
      throw new InvalidInputError("the request", [{ path: "draft.name", value: draft.name, rule }]);
    }
    await checkOrigins(platform.views, draft.schema);
    const { datasets: repository, objects, clock, lineage } = platform;
    const dependencies = { repository, objects, clock, lineage };
    const registered = await registerFrom(dependencies, draft, { allowSchemaChange, sources, actor });
    const { version } = registered;
    const found = version.warnings === undefined ? warnings : undefined;
    if (found !== undefined) await repository.recordWarnings(name, version.manifest.version, found);
    return {
      status: registered.created ? 201 : 200,
      body: found === undefined ? registered : { ...registered, version: { ...version, warnings: found } },
    };
  }),

  defineRoute(contracts.listDatasets, ({ platform: { datasets }, query }) => datasets.list(query)),

  defineRoute(contracts.listDatasetVersions, async ({ platform: { datasets }, params: { name }, query }) => {
    if (!(await datasets.findNewest(name))) throw datasetNotFound(name);
    return datasets.listVersions({ name, ...query });
  }),

  defineRoute(contracts.getDataset, async ({ platform: { datasets }, params: { name } }) => ({
    version: await resolveDataset(datasets, name),
  })),

  defineRoute(contracts.getDatasetVersion, async ({ platform: { datasets }, params: { name, version } }) => ({
    version: await getDatasetVersion(datasets, name, version),
  })),

  defineRoute(contracts.deprecateDatasetVersion, async ({ platform, params: { name, version }, body, actor }) => {
    const { datasets, clock } = platform;
    const { reason } = body;
    await getDatasetVersion(datasets, name, version);
    await datasets.deprecate(name, version, { at: isoTime(clock), reason, by: actor });
    return { version: await getDatasetVersion(datasets, name, version) };
  }),
];
