import * as contracts from "../../../core/api/contracts/models";
import { isoTime } from "../../../core/clock";
import { teamPrefix } from "../../../core/platform/object-keys";
import { approveOrReject } from "../../../core/registry/approval";
import { resolveModel } from "../../../core/registry/production";
import { promote } from "../../../core/registry/transitions";
import { defineRoute } from "../route";

export const modelRoutes = [
  defineRoute(contracts.listModels, async ({ platform: { registry } }) => ({
    status: 200,
    body: { models: await registry.list() },
  })),

  defineRoute(contracts.getModel, async ({ platform: { registry }, params: { name } }) => {
    return { status: 200, body: await registry.snapshot(name) };
  }),

  defineRoute(contracts.getProductionModel, async ({ platform, params: { name } }) => {
    const { registry, objects, config, team } = platform;
    const { model, version } = await registry.champion(name);
    const uriOf = (key: string): string => `s3://${config.bucket}/${teamPrefix(team)}${key}`;
    return { status: 200, body: await resolveModel(objects, uriOf, model, version) };
  }),

  defineRoute(contracts.getModelVersion, async ({ platform: { registry }, params: { name, version } }) => ({
    status: 200,
    body: { version: await registry.version(name, version) },
  })),

  defineRoute(contracts.decideModelVersion, async ({ platform, params: { name, version }, body, actor }) => {
    const by = { by: actor, reason: body.reason };
    const decided = await approveOrReject(platform, { model: name, version }, body.decision, by);
    return { status: 200, body: { version: decided } };
  }),

  /** Promotion by hand goes through the same door as a run's: a passed gate and an approval. */
  defineRoute(contracts.setModelVersionStage, async ({ platform, params, body, actor, idempotencyKey }) => {
    const { registry, clock } = platform;
    const { name, version } = params;
    await registry.version(name, version);
    const who = { by: actor, reason: body.reason, at: isoTime(clock) };
    // Repeated after a rollback, it must not undo that.
    const request = idempotencyKey === undefined ? undefined : `promote#${version}#${idempotencyKey}`;
    const model = await registry.apply(name, [version], promote(version, who), request);
    return { status: 200, body: { model, version: await registry.version(name, version) } };
  }),

  defineRoute(contracts.rollBackModel, async ({ platform, params: { name }, body, actor, idempotencyKey }) => {
    const { registry, clock } = platform;
    const who = { by: actor, reason: body.reason, at: isoTime(clock) };
    const request = idempotencyKey === undefined ? undefined : `rollback#${idempotencyKey}`;
    const model = await registry.rollBack(name, who, { from: body.from, request });
    return { status: 200, body: { model, version: await registry.production(name) } };
  }),
];
