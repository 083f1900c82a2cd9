import * as z from "zod";
import { causeRecord } from "../../core/retraining/cause";
import { retrainingRule, ruleDefinitionOf, ruleState } from "../../core/retraining/rule";
import { instant } from "../../core/shapes";
import { examples } from "../examples";
import { operationsFor, pageOf, response } from "../operation";
import { nameText, reason } from "../schemas/common";
import { jobInput } from "../schemas/runs";

const ruleDefinition = ruleDefinitionOf(jobInput).meta({
  id: "RetrainingRuleDefinition",
  description: "When to retrain, and by which job. The job's dataset is without a version.",
});

const operation = operationsFor("Retraining");
const params = z.strictObject({ rule: nameText });
const answerRule = z.object({ rule: retrainingRule }).meta({ id: "RetrainingRuleAnswer" });
const creation = z.object({ created: z.boolean(), rule: retrainingRule }).meta({ id: "RetrainingRuleCreation" });
const changed = response("The rule.", answerRule, { rule: examples.retrainingRule });
const jobErrors = ["DATASET_NOT_FOUND", "DATASET_WITHOUT_ACTIVE_VERSION", "RETRAINING_RULE_BUSY"] as const;

export const createRetrainingRule = operation("createRetrainingRule", "POST /retraining-rules", {
  summary: "Bind a cause to a job",
  description:
    "From now on each new version of the dataset, each time of the schedule or each finding of the monitor starts one run, even if its event is repeated. Idempotent for the same definition.",
  body: ruleDefinition,
  bodyExample: examples.retrainingRuleDefinition,
  idempotent: true,
  responses: {
    200: response("The same rule already exists.", creation, { created: false, rule: examples.retrainingRule }),
    201: response("The rule.", creation, { created: true, rule: examples.retrainingRule }),
  },
  errors: ["RETRAINING_RULE_EXISTS", ...jobErrors],
});

export const listRetrainingRules = operation("listRetrainingRules", "GET /retraining-rules", {
  summary: "List rules by name",
  ...pageOf({ id: "RetrainingRulePage" }, ruleState, { rule: examples.retrainingRule, starts: 1 }),
});

export const getRetrainingRule = operation("getRetrainingRule", "GET /retraining-rules/{rule}", {
  summary: "Get a rule and its state",
  description: "A deleted one, too.",
  params,
  responses: {
    200: response(
      "The rule.",
      z
        .object({
          state: ruleState,
          next: z.array(instant).meta({ description: "When its cron expression fires next." }),
        })
        .meta({ id: "RetrainingRuleDetails" }),
      { state: { rule: examples.retrainingRule, starts: 1 }, next: [] },
    ),
  },
  errors: ["RETRAINING_RULE_NOT_FOUND"],
});

export const replaceRetrainingRule = operation("replaceRetrainingRule", "PUT /retraining-rules/{rule}", {
  summary: "Replace the definition of a rule",
  params,
  body: ruleDefinition,
  bodyExample: examples.retrainingRuleDefinition,
  responses: { 200: changed },
  errors: ["RETRAINING_RULE_NOT_FOUND", ...jobErrors],
});

export const deleteRetrainingRule = operation("deleteRetrainingRule", "DELETE /retraining-rules/{rule}", {
  summary: "End a rule",
  description: "Its history can still be read. Idempotent.",
  params,
  responses: { 200: changed },
  errors: ["RETRAINING_RULE_NOT_FOUND", "RETRAINING_RULE_BUSY"],
});

export const disableRetrainingRule = operation("disableRetrainingRule", "POST /retraining-rules/{rule}/disable", {
  summary: "Disable a rule: it skips its causes",
  params,
  body: z.strictObject({ reason }).meta({ id: "DisableRequest" }),
  bodyExample: { reason: "labels of March are in doubt" },
  idempotent: true,
  responses: { 200: changed },
  errors: ["RETRAINING_RULE_NOT_FOUND", "RETRAINING_RULE_BUSY"],
});

export const enableRetrainingRule = operation("enableRetrainingRule", "POST /retraining-rules/{rule}/enable", {
  summary: "Enable a rule for later causes",
  params,
  idempotent: true,
  responses: { 200: changed },
  errors: ["RETRAINING_RULE_NOT_FOUND", "RETRAINING_RULE_BUSY"],
});

export const listRetrainingCauses = operation("listRetrainingCauses", "GET /retraining-rules/{rule}/causes", {
  summary: "List the causes of a rule with their results, newest first",
  params,
  ...pageOf({ id: "RetrainingCausePage" }, causeRecord, examples.retrainingCause),
  errors: ["RETRAINING_RULE_NOT_FOUND"],
});

export const runRetrainingRule = operation("runRetrainingRule", "POST /retraining-rules/{rule}/runs", {
  summary: "Retrain by a rule now, by hand",
  description:
    "Ignores the rule's limits, also if it is disabled. `cause.state` is `failed` with a reason if no run could be created.",
  params,
  idempotencyKey: true,
  responses: {
    201: response("The cause, with its run.", z.object({ cause: causeRecord }).meta({ id: "RetrainingRunAnswer" }), {
      cause: examples.retrainingCause,
    }),
  },
  errors: ["RETRAINING_RULE_NOT_FOUND", "RETRAINING_RULE_BUSY"],
});
