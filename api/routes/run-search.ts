import { toJson } from "../../core/json-text";
import { isoTime } from "../../core/ports";
import { experimentIdsOf } from "../../core/tracking/experiments";
import type { RunSearch, SearchedRun, SearchPage, SearchQuery } from "../../core/tracking/search/query";
import type { RunRecord } from "../../core/tracking/shapes";
import { compareRuns } from "../compare/compare";
import { comparisonMarkdown } from "../compare/markdown";
import { inertContent, pageResponse } from "../http/page-response";
import { defineReplyRoute, defineRoute, type Route } from "../http/route";
import * as operations from "../operations/run-search";
import { comparisonHtml } from "../pages/comparison/page";

/** AWS Lambda returns at most 6 MB. */
const largestAnswer = 4_500_000;

export const searchRoutes: readonly Route[] = [
  defineRoute(
    operations.searchRuns,
    async ({ platform: { runSearch, experiments }, body: { experiments: requested, ...body } }) => {
      const experimentIds = await experimentIdsOf(experiments, requested);
      const { runs, total, nextToken } = await fittingPage(runSearch, {
        ...body,
        experimentIds,
      });
      return { runs: runs.map(summaryOf), total, nextToken };
    },
  ),

  defineReplyRoute(operations.compareRuns, async ({ platform, body: { runs, top, format, ...request } }) => {
    const { experiments, clock } = platform;
    const chosen = top ? { ...top, experimentIds: await experimentIdsOf(experiments, top.experiments) } : runs!;
    const comparison = await compareRuns(platform, { ...request, runs: chosen });
    if (format === "markdown") {
      const headers = { "content-type": "text/markdown; charset=utf-8", ...inertContent };
      return { response: new Response(comparisonMarkdown(comparison), { headers }) };
    }
    if (format === "html") return { response: pageResponse(comparisonHtml(comparison, isoTime(clock))) };
    return { status: 200, body: comparison };
  }),
];

/** Returns as many runs as fit in a response: halves the page until it fits. */
async function fittingPage(search: RunSearch, query: SearchQuery): Promise<SearchPage> {
  const page = await search.search(query);
  const half = page.runs.length >> 1;
  if (half === 0 || toJson(page.runs.map(summaryOf)).length <= largestAnswer) return page;
  return fittingPage(search, { ...query, limit: half });
}

function summaryOf({ record, metrics }: SearchedRun) {
  return { run: withoutLongParts(record), metrics };
}

function withoutLongParts({ job: _job, environment: _environment, ...summary }: RunRecord) {
  return summary;
}
