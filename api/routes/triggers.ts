import { randomBytes } from "node:crypto";
import type { Platform } from "../../adapters/platform";
import { InvalidInputError } from "../../core/errors";
import { isoTime } from "../../core/ports";
import { fire } from "../../core/triggers/fire";
import {
  createTrigger,
  deleteTrigger,
  getTrigger,
  setEnabled,
  triggerNotFound,
  updateTrigger,
} from "../../core/triggers/lifecycle";
import { scheduledTimes } from "../../core/triggers/trigger";
import { receiveWebhook } from "../../core/triggers/webhook";
import { defineReplyRoute, defineRoute } from "../http/route";
import * as operations from "../operations/triggers";

const firing = (platform: Platform) => ({ ...platform, randomId: () => randomBytes(8).toString("hex") });

export const triggerRoutes = [
  defineReplyRoute(operations.createTrigger, async ({ platform, body, caller }) => {
    const created = await createTrigger(platform, body, caller);
    return { status: created.created ? 201 : 200, body: created };
  }),

  defineRoute(operations.listTriggers, ({ platform: { triggers }, query }) => triggers.list(query)),

  defineRoute(operations.getTrigger, async ({ platform: { triggers, clock }, params: { trigger } }) => {
    const state = await getTrigger(triggers, trigger);
    const next = scheduledTimes(state.trigger, clock.now(), 3).map((time) => new Date(time).toISOString());
    return { state, next };
  }),

  defineRoute(operations.replaceTrigger, async ({ platform, params: { trigger }, body, caller }) => {
    if (body.name !== trigger) {
      const problem = { path: "name", value: body.name, rule: `must be the name in the path: ${trigger}` };
      throw new InvalidInputError("the request", [problem]);
    }
    return { trigger: await updateTrigger(platform, body, caller) };
  }),

  defineRoute(operations.deleteTrigger, async ({ platform, params: { trigger }, actor }) => ({
    trigger: await deleteTrigger(platform, trigger, actor),
  })),

  defineRoute(operations.disableTrigger, async ({ platform, params: { trigger }, body: { reason }, actor }) => ({
    trigger: await setEnabled(platform, trigger, false, actor, reason || undefined),
  })),

  defineRoute(operations.enableTrigger, async ({ platform, params: { trigger }, actor }) => ({
    trigger: await setEnabled(platform, trigger, true, actor),
  })),

  defineRoute(operations.listTriggerCauses, async ({ platform: { triggers }, params: { trigger }, query }) => {
    await getTrigger(triggers, trigger);
    return triggers.listCauses(trigger, query);
  }),

  defineRoute(operations.fireTrigger, async ({ platform, params: { trigger }, caller, idempotencyKey, requestId }) => {
    const state = await getTrigger(platform.triggers, trigger);
    if (state.trigger.deletedAt !== undefined) throw triggerNotFound(trigger);
    const cause = await fire(firing(platform), trigger, {
      type: "manual",
      at: isoTime(platform.clock),
      by: caller.by,
      ...(caller.person ? { personId: caller.person.id } : {}),
      key: idempotencyKey ?? requestId,
    });
    if (!cause) throw triggerNotFound(trigger);
    return { cause };
  }),

  defineRoute(operations.receiveHook, async ({ platform, params: { trigger }, headers, context }) => {
    const { id, state, runId } = await receiveWebhook(firing(platform), trigger, {
      timestamp: headers["x-ringmaster-timestamp"],
      signature: headers["x-ringmaster-signature"],
      body: await context.req.text(),
    });
    return { id, state, runId };
  }),
];
