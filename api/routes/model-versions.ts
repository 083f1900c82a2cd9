import { isoTime } from "../../core/ports";
import { answerOutdated, approveOrReject } from "../../core/registry/approval";
import type { Transition } from "../../core/registry/change";
import { deleteTag, describe, setSemver, setTag } from "../../core/registry/labels";
import { deleteVersion, restoreVersion } from "../../core/registry/lifecycle";
import type { Actor, ModelVersion } from "../../core/registry/model";
import { registeredSource } from "../../core/registry/registered-source";
import type { Registry } from "../../core/registry/registry";
import { setStage } from "../../core/registry/transitions";
import { checkReferences } from "../../core/tracking/references";
import * as contracts from "../contracts/model-versions";
import { defineRoute } from "../http/route";
import { withLoggedMetrics } from "../services/logged-metrics";
import { versionAfter } from "../services/next-steps";

export const modelVersionRoutes = [
  defineRoute(contracts.registerModelVersion, async ({ platform, body, caller, idempotencyKey }) => {
    const { registry, team, clock } = platform;
    const { name, reason, source, runId, loggedModelId, ...more } = body;
    await checkReferences(platform, {
      runs: [runId],
      datasets: more.dataset ? [more.dataset] : [],
    });
    const requested = { source, ...(runId && { runId }), ...(loggedModelId && { loggedModelId }) };
    const made = { ...more, ...(await registeredSource(platform, requested, caller)) };
    const who = { ...caller, reason, at: isoTime(clock) };
    const once = idempotencyKey === undefined ? {} : { request: `register#${idempotencyKey}` };
    const version = await registry.register(team, { ...made, model: name }, who, once);
    return { status: 201, body: { version: await registry.version(name, version) } };
  }),

  defineRoute(contracts.getModelVersion, async ({ platform, params: { name, version } }) => {
    const [shown] = await withLoggedMetrics(platform, [await versionAfter(platform, { name, version })]);
    return { status: 200, body: { version: shown! } };
  }),

  defineRoute(contracts.decideModelVersion, async ({ platform, params, body, caller, idempotencyKey }) => {
    const { name, version } = params;
    const by = { ...caller, reason: body.reason };
    // Includes the verdict, so that a repetition after a rollback or a new verdict is no new decision.
    const request = idempotencyKey === undefined ? undefined : `${body.decision}#${version}#${idempotencyKey}`;
    await approveOrReject(platform, { model: name, version }, body.decision, by, request);
    return { status: 200, body: { version: await versionAfter(platform, params) } };
  }),

  /** Promotion by a person has the same conditions as a run's: a passed gate and the approvals. */
  defineRoute(contracts.setModelVersionStage, async ({ platform, params, body, caller, idempotencyKey }) => {
    const { registry, clock } = platform;
    const { name, version } = params;
    const who = { ...caller, reason: body.reason, at: isoTime(clock) };
    // A repetition after a rollback must not undo it.
    const word = body.stage === "production" ? "promote" : `stage-${body.stage}`;
    const request = idempotencyKey === undefined ? undefined : `${word}#${version}#${idempotencyKey}`;
    const model = await registry.apply(name, [version], setStage(version, body.stage, who), request);
    if (body.stage === "production") await answerOutdated(platform, name);
    return { status: 200, body: { model, version: await versionAfter(platform, params) } };
  }),

  defineRoute(contracts.rollBackModel, async ({ platform, params: { name }, body, caller, idempotencyKey }) => {
    const { registry, clock } = platform;
    const who = { ...caller, reason: body.reason, at: isoTime(clock) };
    const request = idempotencyKey === undefined ? undefined : `rollback#${idempotencyKey}`;
    const model = await registry.rollBack(name, who, { from: body.from, request });
    await answerOutdated(platform, name);
    return { status: 200, body: { model, version: await registry.production(name) } };
  }),

  defineRoute(contracts.setModelVersionSemver, async ({ platform, params, body, caller }) => {
    const { registry, clock } = platform;
    const { name, version } = params;
    const who = { ...caller, reason: body.reason, at: isoTime(clock) };
    await registry.apply(name, { versions: [version], semver: body.semver }, setSemver(version, body.semver, who));
    return { status: 200, body: { version: await registry.version(name, version) } };
  }),

  defineRoute(contracts.describeModelVersion, async ({ platform, params, body, caller }) => {
    const changed = (who: Actor) => describe(params.version, body.description, who);
    return { status: 200, body: { version: await changeOf(platform, params, caller, body.reason, changed) } };
  }),

  defineRoute(contracts.tagModelVersion, async ({ platform, params, body, caller }) => {
    const changed = (who: Actor) => setTag(params.version, body.key, body.value, who);
    return { status: 200, body: { version: await changeOf(platform, params, caller, body.reason, changed) } };
  }),

  defineRoute(contracts.untagModelVersion, async ({ platform, params, query, caller }) => {
    const changed = (who: Actor) => deleteTag(params.version, query.key, who);
    return { status: 200, body: { version: await changeOf(platform, params, caller, query.reason, changed) } };
  }),

  defineRoute(contracts.deleteModelVersion, async ({ platform, params: { name, version }, query, caller }) => {
    const who = { ...caller, reason: query.reason, at: isoTime(platform.clock) };
    return {
      status: 200,
      body: { model: await platform.registry.apply(name, [version], deleteVersion(version, who)) },
    };
  }),

  defineRoute(contracts.restoreModelVersion, async ({ platform, params, body, caller }) => {
    const changed = (who: Actor) => restoreVersion(params.version, who);
    return { status: 200, body: { version: await changeOf(platform, params, caller, body.reason, changed) } };
  }),
];

interface Ports {
  readonly registry: Registry;
  readonly clock: { now(): number };
}

async function changeOf(
  { registry, clock }: Ports,
  { name, version }: { readonly name: string; readonly version: number },
  caller: Pick<Actor, "by" | "person">,
  reason: string,
  transitionBy: (actor: Actor) => Transition,
): Promise<ModelVersion> {
  await registry.apply(name, [version], transitionBy({ ...caller, reason, at: isoTime(clock) }));
  return registry.version(name, version);
}
