import * as z from "zod";
import type { Platform } from "../../adapters/platform";
import { InvalidInputError, RingmasterError } from "../../core/errors";
import { driftHtml } from "../../core/html/drift-html";
import { parseJson } from "../../core/json-text";
import { getMonitor } from "../../core/monitors/lifecycle";
import { isoTime } from "../../core/ports";
import { runNotFound } from "../../core/runs/errors";
import type { Run } from "../../core/runs/shapes";
import { artifactNotFound } from "../../core/tracking/records/errors";
import { getStudy } from "../../core/tuning/lifecycle";
import { compareRuns } from "../compare/compare";
import { compareLimits } from "../compare/comparison";
import { pageResponse } from "../http/page-response";
import { defineReplyRoute, type Route } from "../http/route";
import { attachment } from "../mlflow/artifacts/send-file";
import * as operations from "../operations/pages";
import { comparisonHtml } from "../pages/comparison/page";
import { experimentHtml, experimentsHtml } from "../pages/experiment-html";
import { readExperimentPage } from "../pages/experiment-page";
import { noLinks, relativeLinks } from "../pages/links";
import { monitorHtml } from "../pages/monitor-html";
import { registerHtml } from "../pages/register-html";
import { runHtml } from "../pages/run-html";
import { readRunPage } from "../pages/run-page";
import { studyHtml } from "../pages/study-html";
import { registerTrainedRun } from "../services/register-run";
import { readWindow } from "./drift";
import { experimentPage } from "./experiments";

const experimentsOnPage = 200;
const windowsOnPage = 200;

export const pageRoutes: readonly Route[] = [
  defineReplyRoute(operations.getExperimentsPage, async ({ platform, query: { nextToken } }) => {
    const page = await experimentPage(platform, { view: "active", limit: experimentsOnPage, nextToken });
    return { response: pageResponse(experimentsHtml(page, relativeLinks(""), platform.clock.now())) };
  }),

  defineReplyRoute(operations.getComparisonPage, async ({ platform, query: { runs, baseline } }) => {
    const request = { runs: runIdsOf(runs), baseline, metrics: [], goals: {}, axis: "step", points: 200 } as const;
    const comparison = await compareRuns(platform, request);
    return { response: pageResponse(comparisonHtml(comparison, isoTime(platform.clock))) };
  }),

  defineReplyRoute(operations.getExperimentPage, async ({ platform, params, query: { links, ...query } }) => {
    const page = await readExperimentPage(platform, params.experimentId, query);
    const html = experimentHtml(page, links === "true" ? relativeLinks("../") : noLinks, platform.clock.now());
    return { response: pageResponse(html) };
  }),

  defineReplyRoute(operations.getRunPage, async ({ platform, params: { runId }, query: { links } }) => {
    const page = await readRunPage(platform, runId);
    const html = runHtml(page, links === "true" ? relativeLinks("../") : noLinks, platform.clock.now());
    return { response: pageResponse(html) };
  }),

  defineReplyRoute(operations.getRegisterPage, async ({ platform, params: { runId }, query: { as } }) => {
    return { response: pageResponse(registerHtml(await trainingRun(platform, runId), as)) };
  }),

  defineReplyRoute(
    operations.confirmRegistration,
    async ({ platform, params: { runId }, query: { as }, headers, caller }) => {
      await trainingRun(platform, runId);
      checkOwnForm(headers["sec-fetch-site"]);
      await registerTrainedRun(platform, runId, as, { ...caller, reason: "registered from the run's page" });
      const location = `../${encodeURIComponent(runId)}`;
      return { response: new Response(null, { status: 303, headers: { location, "cache-control": "no-store" } }) };
    },
  ),

  defineReplyRoute(operations.getMonitorPage, async ({ platform, params: { monitor: name }, query: { links } }) => {
    const { monitors, clock } = platform;
    const monitor = await getMonitor(monitors, name);
    const { items } = await monitors.listWindows(name, { limit: windowsOnPage });
    const html = monitorHtml(monitor, items, links === "true" ? relativeLinks("../") : noLinks, clock.now());
    return { response: pageResponse(html) };
  }),

  defineReplyRoute(operations.getWindowPage, async ({ platform, params: { monitor, window } }) => {
    const { report } = await readWindow(platform, monitor, window);
    return { response: pageResponse(driftHtml(report, platform.clock.now())) };
  }),

  defineReplyRoute(operations.getStudyPage, async ({ platform, params: { study }, query: { links } }) => {
    const state = await getStudy(platform.studies, study);
    const html = studyHtml(state, links === "true" ? relativeLinks("../") : noLinks, platform.clock.now());
    return { response: pageResponse(html) };
  }),

  /** The file is never shown as a page of the API, whatever its type. */
  defineReplyRoute(operations.getRunFile, async ({ platform, params: { runId }, query: { path } }) => {
    const { records, artifacts, contentUrls } = platform;
    if (!(await records.identify(runId))) throw runNotFound(runId);
    const artifact = await artifacts.find({ kind: "run", runId }, path);
    if (!artifact) throw artifactNotFound(runId, path);
    const location = await contentUrls.forDownload(artifact.sha256, {
      contentType: "application/octet-stream",
      disposition: attachment(path.slice(path.lastIndexOf("/") + 1)),
    });
    return { response: new Response(null, { status: 307, headers: { location, "cache-control": "no-store" } }) };
  }),
];

async function trainingRun({ runs }: Pick<Platform, "runs">, runId: string): Promise<Run> {
  const run = await runs.find(runId);
  if (!run) throw runNotFound(runId, "training");
  return run;
}

/**
 * Checks that a page of this API sent a form. Browsers send credentials with forms of any site, but set this header.
 */
function checkOwnForm(site: string | undefined): void {
  if (site === "same-origin") return;
  const message = `the form was sent with Sec-Fetch-Site ${site ?? "absent"}, but must be sent by a page of this API (same-origin); programs use POST /training-runs/{runId}/register`;
  throw new RingmasterError(message, { code: "CROSS_SITE_REQUEST", httpStatus: 403 });
}

const runIdList = z.array(z.string().min(1).max(255)).min(1).max(compareLimits.runs);

function runIdsOf(text: string): readonly string[] {
  const rule = `must be a JSON list of 1 to ${compareLimits.runs} run ids`;
  try {
    return runIdList.parse(parseJson(text));
  } catch (cause) {
    throw new InvalidInputError("the query", [{ path: "runs", value: text.slice(0, 200), rule }], cause);
  }
}
