import { randomBytes } from "node:crypto";
import { InvalidInputError } from "../../core/errors";
import { isoTime } from "../../core/ports";
import { fire } from "../../core/retraining/fire";
import { createRule, deleteRule, getRule, ruleNotFound, setEnabled, updateRule } from "../../core/retraining/lifecycle";
import { nextFirings } from "../../core/retraining/rule";
import { defineReplyRoute, defineRoute } from "../http/route";
import * as operations from "../operations/retraining";

export const retrainingRoutes = [
  defineReplyRoute(operations.createRetrainingRule, async ({ platform, body, caller }) => {
    const created = await createRule(platform, body, caller);
    return { status: created.created ? 201 : 200, body: created };
  }),

  defineRoute(operations.listRetrainingRules, ({ platform: { retraining }, query }) => retraining.list(query)),

  defineRoute(operations.getRetrainingRule, async ({ platform: { retraining, clock }, params: { rule } }) => {
    const state = await getRule(retraining, rule);
    return { state, next: nextFirings(state.rule, clock.now()) };
  }),

  defineRoute(operations.replaceRetrainingRule, async ({ platform, params: { rule }, body, caller }) => {
    if (body.name !== rule) {
      const problem = { path: "name", value: body.name, rule: `must be the name in the path: ${rule}` };
      throw new InvalidInputError("the request", [problem]);
    }
    return { rule: await updateRule(platform, body, caller) };
  }),

  defineRoute(operations.deleteRetrainingRule, async ({ platform, params: { rule }, actor }) => ({
    rule: await deleteRule(platform, rule, actor),
  })),

  defineRoute(operations.disableRetrainingRule, async ({ platform, params: { rule }, body: { reason }, actor }) => ({
    rule: await setEnabled(platform, rule, false, actor, reason || undefined),
  })),

  defineRoute(operations.enableRetrainingRule, async ({ platform, params: { rule }, actor }) => ({
    rule: await setEnabled(platform, rule, true, actor),
  })),

  defineRoute(operations.listRetrainingCauses, async ({ platform: { retraining }, params: { rule }, query }) => {
    await getRule(retraining, rule);
    return retraining.listCauses(rule, query);
  }),

  defineRoute(
    operations.runRetrainingRule,
    async ({ platform, params: { rule }, caller, idempotencyKey, requestId }) => {
      const { rule: row } = await getRule(platform.retraining, rule);
      if (row.deletedAt !== undefined) throw ruleNotFound(rule);
      const cause = await fire({ ...platform, randomId: () => randomBytes(8).toString("hex") }, rule, {
        type: "manual",
        at: isoTime(platform.clock),
        by: caller.by,
        ...(caller.person ? { personId: caller.person.id } : {}),
        key: idempotencyKey ?? requestId,
      });
      if (!cause) throw ruleNotFound(rule);
      return { cause };
    },
  ),
];
