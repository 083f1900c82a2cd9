import type { Platform } from "../../adapters/platform";
import { InvalidInputError, type Problem } from "../../core/errors";
import * as approvals from "../../core/registry/approval-requests";
import { hookKey } from "../../core/registry/gates/external-check";
import { judgeVersion } from "../../core/registry/gates/judge-version";
import { answerVersionCheck, checkNotFound } from "../../core/registry/gates/transitions";
import { setPolicy } from "../../core/registry/lifecycle";
import type { Model } from "../../core/registry/model";
import { comparesPeople, missingRequests, rulesOf } from "../../core/registry/policy";
import type { ExternalCheck } from "../../core/runs/gate-rules";
import type { Warning } from "../../core/shapes";
import { keyText } from "../../core/signing-key";
import { timeModel } from "../../trainer-container/tfjs/time-model";
import { pageResponse } from "../http/page-response";
import { defineReplyRoute, defineRoute, type Route } from "../http/route";
import * as operations from "../operations/model-gates";
import { reportHtml } from "../pages/version-report";
import { reportMarkdown } from "../report/markdown";
import { versionReport } from "../report/report";
import { versionAfter } from "../services/next-steps";

/** @throws InvalidInputError with every check whose URL is not permitted */
async function checkUrls({ hooks }: Pick<Platform, "hooks">, checks: readonly ExternalCheck[]): Promise<void> {
  const problems = await Promise.all(
    checks.map(async (check, i): Promise<readonly Problem[]> => {
      const rule = check.kind === "http" ? await hooks.problemOf(check.url) : undefined;
      return check.kind !== "http" || rule === undefined
        ? []
        : [{ path: `rules.checks[${i}].url`, value: check.url, rule }];
    }),
  );
  if (problems.some(({ length }) => length > 0))
    throw new InvalidInputError("the policy cannot be set", problems.flat());
}

/** Describes how many people must still request a proposed policy. */
function proposed({ name, policy, policyProposal }: Model): readonly Warning[] {
  if (!policy || !policyProposal) return [];
  const { requests } = policyProposal;
  const missing = missingRequests(
    policy.approvals,
    requests.map(({ person }) => person),
  );
  const message =
    `the policy of ${name} is not changed: the requested approval rules are looser than those in force, and ${missing} more ` +
    `${missing === 1 ? "person" : "people"} must set the same policy (requested by ${requests.map(({ by }) => by).join(", ")})`;
  return [{ code: "POLICY_PROPOSED", message }];
}

const noPeople: Warning = {
  code: "CALLERS_NOT_AUTHENTICATED",
  message:
    "the policy compares people, but this API does not authenticate its callers: no approval counts until there is a token for each approver " +
    "(`ringmaster tokens create`), because a name in x-ringmaster-actor proves nothing",
};

const noApproval: Warning = {
  code: "PROMOTED_BY_POLICY",
  message:
    "the policy requires no approval: a version that a run trains and that passes its gates goes to production without a person; " +
    "its promotion names this policy and who set it",
};

export const modelPolicyRoutes: readonly Route[] = [
  defineRoute(operations.getModelPolicy, async ({ platform: { registry }, params: { name } }) => {
    const { policy } = await registry.head(name);
    return { policy, history: await registry.repository.policies(name) };
  }),

  defineRoute(operations.setModelPolicy, async ({ platform, params: { name }, body, caller, actorFor }) => {
    await checkUrls(platform, body.rules.checks);
    const transition = setPolicy(body.rules, body.approvals, actorFor(body.reason));
    const model = await platform.registry.apply(name, [], transition);
    const unattended = body.approvals.required === 0 && model.policyProposal === undefined;
    const unmet = comparesPeople(body.approvals) && caller.person === undefined;
    // A milder policy may be satisfied by the existing approvals.
    await approvals.answerAll(platform, name);
    const warnings = [...(unmet ? [noPeople] : []), ...(unattended ? [noApproval] : []), ...proposed(model)];
    return { model, ...(warnings.length > 0 ? { warnings } : {}) };
  }),

  defineRoute(operations.judgeModelVersion, async ({ platform, params, body, caller, onceFor }) => {
    const { name, version } = params;
    const request = onceFor(`judge#${version}`);
    const judged = await judgeVersion(
      { ...platform, timeModel },
      name,
      version,
      { ...caller, reason: body.reason },
      request,
    );
    // A run that waits for an approval must not wait if its version did not pass.
    await approvals.answer(platform, await platform.registry.head(name), judged);
    return { version: await versionAfter(platform, params) };
  }),
];

export const modelGateRoutes: readonly Route[] = [
  defineReplyRoute(
    operations.getModelVersionReport,
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

  defineRoute(operations.answerModelCheck, async ({ platform, params: { name, version, check }, body, actor }) => {
    const answer = { ...body, by: actor };
    await answerVersionCheck(platform, { model: name, version, check }, answer);
    return { version: await versionAfter(platform, { name, version }) };
  }),

  defineRoute(operations.getModelCheckKey, async ({ platform, params: { name, check } }) => {
    const { checks } = rulesOf(await platform.registry.head(name));
    const declared = checks.find((each) => each.name === check);
    if (declared?.kind !== "http") {
      const names = checks.filter(({ kind }) => kind === "http").map((each) => each.name);
      throw checkNotFound(name, undefined, check, names);
    }
    const generation = declared.keyGeneration ?? 1;
    const key = await hookKey(platform.objects, platform.randomBytes, { model: name, check, generation });
    return { check, generation, key: keyText(key) };
  }),
];
