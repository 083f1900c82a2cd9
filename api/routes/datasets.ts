import { datasetNotFound } from "../../core/datasets/errors";
import { getDatasetVersion, resolveDataset } from "../../core/datasets/repository";
import { InvalidInputError } from "../../core/errors";
import { registerFrom } from "../../core/lineage/register-from";
import { isoTime } from "../../core/ports";
import * as contracts from "../contracts/datasets";
import { defineReplyRoute, defineRoute } from "../http/route";
import { checkOrigins } from "../services/view-origins";

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
