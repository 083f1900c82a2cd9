import { searchRuns } from "../../../core/api/contracts/run-search";
import type { RunRecord } from "../../../core/tracking/run-record";
import type { RunSearch, SearchedRun, SearchPage, SearchQuery } from "../../../core/tracking/search/query";
import { experimentIdsOf } from "../../../core/tracking/search/scope";
import { defineRoute, type Route } from "../route";
import { encodedSummary } from "./tracked-metrics";

/** AWS Lambda answers at most 6 MB. */
const largestAnswer = 4_500_000;

export const searchRoutes: readonly Route[] = [
  defineRoute(searchRuns, async ({ platform: { runSearch, experiments }, body: { experiments: asked, ...body } }) => {
    const experimentIds = await experimentIdsOf(experiments, asked);
    const { runs, nextToken } = await fittingPage(runSearch, { ...body, experimentIds, dialect: "ringmaster" });
    return { status: 200, body: { runs: runs.map(summaryOf), ...(nextToken === undefined ? {} : { nextToken }) } };
  }),
];

/** As many as fit into an answer: half as many as long as they do not. */
async function fittingPage(search: RunSearch, query: SearchQuery): Promise<SearchPage> {
  const page = await search.search(query);
  const half = page.runs.length >> 1;
  if (half === 0 || JSON.stringify(page.runs.map(summaryOf)).length <= largestAnswer) return page;
  return fittingPage(search, { ...query, limit: half });
}

function summaryOf({ record, metrics }: SearchedRun) {
  return { run: withoutLongParts(record), metrics: metrics.map(encodedSummary) };
}

function withoutLongParts({ job: _job, environment: _environment, ...summary }: RunRecord) {
  return summary;
}
