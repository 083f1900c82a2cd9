import type { Platform } from "../../adapters/platform";
import * as approvals from "../../core/registry/approval-requests";
import { readArtifact } from "../../core/registry/artifact";
import type { Transition } from "../../core/registry/change";
import { deleteTag, describe, setSemver, setTag } from "../../core/registry/labels";
import { deleteVersion, restoreVersion } from "../../core/registry/lifecycle";
import { setStage } from "../../core/registry/transitions";
import { checkReferences } from "../../core/tracking/references";
import { defineReplyRoute, defineRoute } from "../http/route";
import * as operations from "../operations/model-versions";
import { withLoggedMetrics } from "../services/logged-metrics";
import { versionAfter } from "../services/next-steps";
import { registerTrainedRun } from "../services/register-run";
import { registeredSource } from "../services/registered-source";

export const modelVersionRoutes = [
  defineRoute(
    operations.registerTrainingRun,
    async ({ platform, params: { runId }, body: { model, reason }, caller }) => {
      const by = { ...caller, reason };
      const version = await registerTrainedRun(platform, runId, model, by);
      return { version: await versionAfter(platform, { name: model, version }) };
    },
  ),

  defineRoute(operations.requestModelApproval, async ({ platform, params, body, caller, onceFor }) => {
    const { name, version } = params;
    const id = onceFor(`request-approval#${version}`) ?? Buffer.from(platform.randomBytes(8)).toString("hex");
    const target = { team: platform.team, model: name, version };
    await approvals.request(platform, target, { id, again: true }, { ...caller, reason: body.reason });
    return { version: await versionAfter(platform, params) };
  }),

  defineRoute(operations.registerModelVersion, async ({ platform, body, caller, actorFor, onceFor }) => {
    const { registry, team } = platform;
    const { name, reason, source, runId, loggedModelId, ...more } = body;
    await checkReferences(platform, { runs: [runId], datasets: more.dataset ? [more.dataset] : [] });
    const requested = { source, ...(runId && { runId }), ...(loggedModelId && { loggedModelId }) };
    const draft = { ...more, model: name, ...(await registeredSource(platform, requested, caller)) };
    const version = await registry.register(team, draft, actorFor(reason), { request: onceFor("register") });
    return { version: await registry.version(name, version) };
  }),

  defineRoute(operations.getModelVersion, async ({ platform, params: { name, version } }) => {
    const [shown] = await withLoggedMetrics(platform, [await versionAfter(platform, { name, version })]);
    return { version: shown! };
  }),

  defineRoute(operations.getModelArtifact, async ({ platform, params: { name, version } }) => {
    const artifact = await readArtifact(platform.objects, await platform.registry.version(name, version));
    return artifact ? { artifact } : {};
  }),

  defineRoute(operations.decideModelVersion, async ({ platform, params, body, caller, onceFor }) => {
    const { name, version } = params;
    const by = { ...caller, reason: body.reason };
    // Includes the verdict, so that a repetition after a rollback or a new verdict is no new decision.
    const request = onceFor(`${body.decision}#${version}`);
    const decided = await approvals.decide(platform, { model: name, version }, body.decision, by, request);
    // The process that requested the approval may have died before it started the execution.
    if (body.decision === "approved") await approvals.start(platform.executions, platform.team, decided);
    return { version: await versionAfter(platform, params) };
  }),

  /** Promotion by a person has the same conditions as a run's: a passed gate and the approvals. */
  defineRoute(operations.setModelVersionStage, async ({ platform, params, body, actorFor, onceFor }) => {
    const { name, version } = params;
    const transition = setStage(version, body.stage, actorFor(body.reason));
    // A repetition after a rollback must not undo it.
    const word = body.stage === "production" ? "promote" : `stage-${body.stage}`;
    const model = await platform.registry.apply(name, [version], transition, onceFor(`${word}#${version}`));
    if (body.stage === "production") await approvals.answerAll(platform, name);
    return { model, version: await versionAfter(platform, params) };
  }),

  defineRoute(operations.rollBackModel, async ({ platform, params: { name }, body, actorFor, onceFor }) => {
    const { registry } = platform;
    const request = { from: body.from, request: onceFor("rollback") };
    const model = await registry.rollBack(name, actorFor(body.reason), request);
    await approvals.answerAll(platform, name);
    return { model, version: await registry.production(name) };
  }),

  defineRoute(operations.setModelVersionSemver, async ({ platform: { registry }, params, body, actorFor }) => {
    const { name, version } = params;
    const { semver, reason } = body;
    await registry.apply(name, { versions: [version], semver }, setSemver(version, semver, actorFor(reason)));
    return { version: await registry.version(name, version) };
  }),

  defineReplyRoute(operations.describeModelVersion, ({ platform, params, body, actorFor }) =>
    change(platform, params, describe(params.version, body.description, actorFor(body.reason))),
  ),

  defineReplyRoute(operations.tagModelVersion, ({ platform, params, body, actorFor }) =>
    change(platform, params, setTag(params.version, body.key, body.value, actorFor(body.reason))),
  ),

  defineReplyRoute(operations.untagModelVersion, ({ platform, params, query, actorFor }) =>
    change(platform, params, deleteTag(params.version, query.key, actorFor(query.reason))),
  ),

  defineRoute(operations.deleteModelVersion, async ({ platform: { registry }, params, query, actorFor }) => {
    const { name, version } = params;
    const model = await registry.apply(name, [version], deleteVersion(version, actorFor(query.reason)));
    return { model };
  }),

  defineReplyRoute(operations.restoreModelVersion, ({ platform, params, body, actorFor }) =>
    change(platform, params, restoreVersion(params.version, actorFor(body.reason))),
  ),
];

async function change(
  { registry }: Pick<Platform, "registry">,
  { name, version }: { readonly name: string; readonly version: number },
  transition: Transition,
) {
  await registry.apply(name, [version], transition);
  return { status: 200 as const, body: { version: await registry.version(name, version) } };
}
