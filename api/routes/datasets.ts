import { datasetNotFound } from "../../core/datasets/errors";
import type { InboxFiles, InboxReport, InboxRepository } from "../../core/datasets/inbox/shapes";
import { getDatasetVersion, resolveDataset } from "../../core/datasets/repository";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { mapLimited } from "../../core/each-limited";
import { conflict, hasCode, InvalidInputError, notFound, type Problem } from "../../core/errors";
import type { ViewRepository } from "../../core/feature-store/ports";
import { resolveView } from "../../core/feature-store/registry";
import type { ViewVersion } from "../../core/feature-store/shapes";
import { type OriginatedColumn, viewsOfColumns } from "../../core/feature-store/view-columns";
import { registerFrom } from "../../core/lineage/register-from";
import { type Clock, isoTime } from "../../core/ports";
import { defineReplyRoute, defineRoute } from "../http/route";
import * as operations from "../operations/datasets";

const inboxReportNotFound = (id: string) =>
  notFound("INBOX_REPORT_NOT_FOUND", `there is no inbox report ${JSON.stringify(id)}`, { id });

const inboxFileNotRefused = (path: string, status: string) =>
  conflict(
    "INBOX_FILE_NOT_REFUSED",
    `${path} is ${status}, and only a refused file can be retried; upload the file again if it has changed`,
    { path, status },
  );

const inboxFileGone = (path: string) =>
  conflict("INBOX_FILE_GONE", `${path} is no longer in the inbox, or has other content now, which has its own report`, {
    path,
  });

/** S3 sends its event again. @throws INBOX_REPORT_NOT_FOUND, INBOX_FILE_NOT_REFUSED, INBOX_FILE_GONE */
export async function retryInboxFile(
  {
    inbox,
    inboxFiles,
    clock,
  }: { readonly inbox: InboxRepository; readonly inboxFiles: InboxFiles; readonly clock: Clock },
  id: string,
): Promise<InboxReport> {
  const report = await inbox.find(id);
  if (!report) throw inboxReportNotFound(id);
  // A process that died between the two writes below has left the status `retried`. It may be repeated.
  if (report.status !== "refused" && report.status !== "retried") {
    throw inboxFileNotRefused(report.path, report.status);
  }
  const { id: same, path, dataset, etag, bytes, sequencer, putAt } = report;
  const retried: InboxReport = {
    ...{ id: same, path, dataset, etag, bytes, sequencer, putAt },
    updatedAt: isoTime(clock),
    status: "retried",
    tries: 0,
  };
  // The report is saved before the event is sent, so that the event's reader is not overwritten.
  if (!(await inbox.save(retried, report))) return (await inbox.find(id)) ?? retried;
  if (!(await inboxFiles.announceAgain(path, etag))) {
    await inbox.save(report, retried);
    throw inboxFileGone(path);
  }
  return retried;
}

export const inboxRoutes = [
  defineRoute(operations.listInboxReports, ({ platform: { inbox }, query }) => inbox.list(query)),

  defineRoute(operations.retryInboxFile, async ({ platform, params: { id } }) => ({
    report: await retryInboxFile(platform, id),
  })),
];

const maxViews = 100;
const readsAtOnce = 8;

/** Checks that views have the features which columns name, with their types. @throws InvalidInputError */
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
    const resolved = await resolveView(views, reference).catch((error: unknown) => {
      if (hasCode(error, "FEATURE_VIEW_NOT_FOUND", "FEATURE_VIEW_VERSION_NOT_FOUND")) return error.message;
      throw error;
    });
    return columns.flatMap((column) => problemOf(column, reference, resolved));
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
  const source = found.features.find(({ name }) => name === feature);
  if (source === undefined) {
    const names = found.features.map(({ name }) => name).join(", ");
    return [{ path, value: feature, rule: `must be a feature of ${view}: ${names}` }];
  }
  if (source.type === column.type) return [];
  const rule = `must be ${source.type}, the type of ${feature} in ${view}; change the type in the schema file`;
  return [{ path: `columns.${column.name}.type`, value: column.type, rule }];
}

export const datasetRoutes = [
  defineReplyRoute(operations.registerDatasetVersion, async ({ platform, params: { name }, body, actor }) => {
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
    const newWarnings = version.warnings === undefined ? warnings : undefined;
    if (newWarnings !== undefined) await repository.recordWarnings(name, version.manifest.version, newWarnings);
    return {
      status: registered.created ? 201 : 200,
      body: newWarnings === undefined ? registered : { ...registered, version: { ...version, warnings: newWarnings } },
    };
  }),

  defineRoute(operations.listDatasets, ({ platform: { datasets }, query }) => datasets.list(query)),

  defineRoute(operations.listDatasetVersions, async ({ platform: { datasets }, params: { name }, query }) => {
    if (!(await datasets.findNewest(name))) throw datasetNotFound(name);
    return datasets.listVersions({ name, ...query });
  }),

  defineRoute(operations.getDataset, async ({ platform: { datasets }, params: { name } }) => ({
    version: await resolveDataset(datasets, name),
  })),

  defineRoute(operations.getDatasetVersion, async ({ platform: { datasets }, params: { name, version } }) => ({
    version: await getDatasetVersion(datasets, name, version),
  })),

  defineRoute(operations.deprecateDatasetVersion, async ({ platform, params: { name, version }, body, actor }) => {
    const { datasets, clock } = platform;
    const { reason } = body;
    await getDatasetVersion(datasets, name, version);
    await datasets.deprecate(name, version, { at: isoTime(clock), reason, by: actor });
    return { version: await getDatasetVersion(datasets, name, version) };
  }),
];
