import * as z from "zod";
import { causeRecord } from "../../core/retraining/cause";
import { retrainingRule, ruleState } from "../../core/retraining/rule";
import { instant } from "../../core/shapes";
import { contract } from "../contract";
import { examples } from "../examples";
import { nameText, pageQuery, reason } from "../schemas/common";
import { causePage, ruleDefinition, rulePage } from "../schemas/retraining";

const tag = "Retraining";
const params = z.strictObject({ rule: nameText });
const answerRule = z.object({ rule: retrainingRule }).meta({ id: "RetrainingRuleAnswer" });
const creation = z.object({ created: z.boolean(), rule: retrainingRule }).meta({ id: "RetrainingRuleCreation" });
const changed = { description: "The rule.", schema: answerRule, example: { rule: examples.retrainingRule } };
const jobErrors = ["DATASET_NOT_FOUND", "DATASET_WITHOUT_ACTIVE_VERSION", "RETRAINING_RULE_BUSY"] as const;

export const createRetrainingRule = contract({
  operationId: "createRetrainingRule",
  method: "POST",
  path: "/retraining-rules",
  tag,
  summary: "Bind a cause to a job",
  description:
    "From now on each new version of the dataset, each time of the schedule or each finding of the monitor starts one run, even if its event is repeated. Idempotent for the same definition.",
  body: ruleDefinition,
  bodyExample: examples.retrainingRuleDefinition,
  idempotent: true,
  responses: {
    200: {
      description: "The same rule already exists.",
      schema: creation,
      example: { created: false, rule: examples.retrainingRule },
    },
    201: { description: "The rule.", schema: creation, example: { created: true, rule: examples.retrainingRule } },
  },
  errors: ["RETRAINING_RULE_EXISTS", ...jobErrors],
});

export const listRetrainingRules = contract({
  operationId: "listRetrainingRules",
  method: "GET",
  path: "/retraining-rules",
  tag,
  summary: "List rules by name",
  query: pageQuery,
  pages: "items",
  responses: {
    200: {
      description: "A page.",
      schema: rulePage,
      example: { items: [{ rule: examples.retrainingRule, starts: 1 }] },
    },
  },
});

export const getRetrainingRule = contract({
  operationId: "getRetrainingRule",
  method: "GET",
  path: "/retraining-rules/{rule}",
  tag,
  summary: "Get a rule and its state",
  description: "A deleted one, too.",
  params,
  responses: {
    200: {
      description: "The rule.",
      schema: z
        .object({
          state: ruleState,
          next: z.array(instant).meta({ description: "When its cron expression fires next." }),
        })
        .meta({ id: "RetrainingRuleDetails" }),
      example: { state: { rule: examples.retrainingRule, starts: 1 }, next: [] },
    },
  },
  errors: ["RETRAINING_RULE_NOT_FOUND"],
});

export const replaceRetrainingRule = contract({
  operationId: "replaceRetrainingRule",
  method: "PUT",
  path: "/retraining-rules/{rule}",
  tag,
  summary: "Replace what a rule says",
  params,
  body: ruleDefinition,
  bodyExample: examples.retrainingRuleDefinition,
  responses: { 200: changed },
  errors: ["RETRAINING_RULE_NOT_FOUND", ...jobErrors],
});

export const deleteRetrainingRule = contract({
  operationId: "deleteRetrainingRule",
  method: "DELETE",
  path: "/retraining-rules/{rule}",
  tag,
  summary: "End a rule",
  description: "Its history can still be read. Idempotent.",
  params,
  responses: { 200: changed },
  errors: ["RETRAINING_RULE_NOT_FOUND", "RETRAINING_RULE_BUSY"],
});

export const disableRetrainingRule = contract({
  operationId: "disableRetrainingRule",
  method: "POST",
  path: "/retraining-rules/{rule}/disable",
  tag,
  summary: "Let a rule skip its causes",
  params,
  body: z.strictObject({ reason }).meta({ id: "DisableRequest" }),
  bodyExample: { reason: "labels of March are in doubt" },
  idempotent: true,
  responses: { 200: changed },
  errors: ["RETRAINING_RULE_NOT_FOUND", "RETRAINING_RULE_BUSY"],
});

export const enableRetrainingRule = contract({
  operationId: "enableRetrainingRule",
  method: "POST",
  path: "/retraining-rules/{rule}/enable",
  tag,
  summary: "Let a rule act again, on what happens from now on",
  params,
  idempotent: true,
  responses: { 200: changed },
  errors: ["RETRAINING_RULE_NOT_FOUND", "RETRAINING_RULE_BUSY"],
});

export const listRetrainingCauses = contract({
  operationId: "listRetrainingCauses",
  method: "GET",
  path: "/retraining-rules/{rule}/causes",
  tag,
  summary: "List the causes of a rule with their results, newest first",
  params,
  query: pageQuery,
  pages: "items",
  responses: { 200: { description: "A page.", schema: causePage, example: { items: [examples.retrainingCause] } } },
  errors: ["RETRAINING_RULE_NOT_FOUND"],
});

export const runRetrainingRule = contract({
  operationId: "runRetrainingRule",
  method: "POST",
  path: "/retraining-rules/{rule}/runs",
  tag,
  summary: "Retrain by a rule now, by hand",
  description:
    "Whatever its limits, and although it is disabled. Look at `cause.state`: `failed` says why no run could be made.",
  params,
  idempotencyKey: true,
  responses: {
    201: {
      description: "The cause, with its run.",
      schema: z.object({ cause: causeRecord }).meta({ id: "RetrainingRunAnswer" }),
      example: { cause: examples.retrainingCause },
    },
  },
  errors: ["RETRAINING_RULE_NOT_FOUND", "RETRAINING_RULE_BUSY"],
});
