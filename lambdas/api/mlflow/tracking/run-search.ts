import { runView, unlessEmpty } from "../../../../core/mlflow/run-view";
import { invalidParameter } from "../errors";
import { integer, list, text } from "../fields";
import { type MlflowOperation, operation } from "../operation";
import { invalidValue } from "../request";
import { viewType } from "./experiments";
import { checkMaxResults } from "./paging";
import { parseExperimentId } from "./ports";

const views = { ACTIVE_ONLY: "active", DELETED_ONLY: "deleted", ALL: "all" } as const;
const mostResults = 50_000;
const mostSummaries = 1_000;
const mostExperiments = 20;

export const runSearchOperations: readonly MlflowOperation[] = [
  operation(
    "POST /mlflow/runs/search",
    {
      experiment_ids: list(text),
      filter: text,
      run_view_type: viewType,
      max_results: integer,
      order_by: list(text),
      page_token: text,
    },
    async ({ fields, platform }) => {
      const limit = fields.max_results ?? 1000;
      if (limit > mostResults) throw invalidValue("max_results", limit);
      checkMaxResults(limit);
      const experimentIds = fields.experiment_ids.map(parseExperimentId);
      const { runs, nextToken } = await platform.runSearch.search({
        // Of no experiment MLflow finds no run; a search of ours would go through all.
        experimentIds: experimentIds.length > 0 ? experimentIds : ["-1"],
        filter: fields.filter ?? "",
        dialect: "mlflow",
        orderBy: fields.order_by,
        limit,
        pageToken: fields.page_token || undefined,
        view: views[fields.run_view_type ?? "ACTIVE_ONLY"],
      });
      return {
        ...unlessEmpty(
          "runs",
          runs.map(({ record, metrics }) => runView(record, metrics)),
        ),
        next_page_token: nextToken,
      };
    },
  ),

  operation(
    "POST /mlflow/experiments/search-datasets",
    { experiment_ids: list(text) },
    async ({ fields, platform }) => {
      const { experiment_ids: ids } = fields;
      if (ids.length === 0) throw invalidParameter("SearchDatasets request must specify at least one experiment_id.");
      if (ids.length > mostExperiments) {
        throw invalidParameter(
          `SearchDatasets request cannot specify more than ${mostExperiments} experiment_ids. Received ${ids.length} experiment_ids.`,
        );
      }
      const { runs } = await platform.runSearch.search({
        experimentIds: ids.map(parseExperimentId),
        filter: "",
        dialect: "mlflow",
        orderBy: [],
        limit: mostResults,
        view: "all",
      });
      const summaries = new Map<string, object>();
      for (const { record } of runs) {
        for (const { name, digest, tags } of record.datasets) {
          const context = tags["mlflow.data.context"];
          const summary = { experiment_id: record.experimentId, name, digest, context };
          summaries.set(JSON.stringify(summary), summary);
        }
      }
      return unlessEmpty("dataset_summaries", [...summaries.values()].slice(0, mostSummaries));
    },
  ),
];
