import { hookKey } from "../../core/registry/gates/external-check";
import { answerVersionCheck, checkNotFound } from "../../core/registry/gates/transitions";
import { rulesOf } from "../../core/registry/policy";
import { keyText } from "../../core/signing-key";
import * as contracts from "../contracts/model-gates";
import { pageResponse } from "../http/page-response";
import { defineReplyRoute, defineRoute, type Route } from "../http/route";
import { reportHtml } from "../pages/version-report";
import { reportMarkdown } from "../report/markdown";
import { versionReport } from "../report/report";
import { versionAfter } from "../services/next-steps";

export const modelGateRoutes: readonly Route[] = [
  defineReplyRoute(
    contracts.getModelVersionReport,
    async ({ platform, params: { name, version }, query: { format } }) => {
      const report = await versionReport(platform.objects, await platform.registry.version(name, version));
      if (format === "html") return { response: pageResponse(reportHtml(report)) };
      if (format === "markdown") {
        const headers = { "content-type": "text/markdown; charset=utf-8", "x-content-type-options": "nosniff" };
        return { response: new Response(reportMarkdown(report), { headers }) };
      }
      return { status: 200, body: report };
    },
  ),

  defineRoute(contracts.answerModelCheck, async ({ platform, params: { name, version, check }, body, actor }) => {
    const answer = { ...body, by: actor };
    await answerVersionCheck(platform, { model: name, version, check }, answer);
    return { version: await versionAfter(platform, { name, version }) };
  }),

  defineRoute(contracts.getModelCheckKey, async ({ platform, params: { name, check } }) => {
    const { checks } = rulesOf(await platform.registry.head(name));
    const declared = checks.find((each) => each.name === check);
    if (declared?.kind !== "http") {
      const known = checks.filter(({ kind }) => kind === "http").map((each) => each.name);
      throw checkNotFound(name, undefined, check, known);
    }
    const generation = declared.keyGeneration ?? 1;
    const key = await hookKey(platform.objects, platform.randomBytes, { model: name, check, generation });
    return { check, generation, key: keyText(key) };
  }),
];
