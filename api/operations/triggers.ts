import * as z from "zod";
import { instant } from "../../core/shapes";
import { causeRecord } from "../../core/triggers/cause";
import { trigger, triggerDefinitionOf, triggerState } from "../../core/triggers/trigger";
import { examples } from "../examples";
import { operationsFor, pageOf, response } from "../operation";
import { nameText, reason } from "../schemas/common";
import { jobInput } from "../schemas/runs";

const definition = triggerDefinitionOf(jobInput).meta({
  id: "TriggerDefinition",
  description: "The source of a trigger, and what it starts. The job's dataset is without a version.",
});

const operation = operationsFor("Triggers");
const params = z.strictObject({ trigger: nameText });
const answer = z.object({ trigger }).meta({ id: "TriggerAnswer" });
const creation = z
  .object({
    created: z.boolean(),
    trigger,
    secret: z.string().optional().meta({ description: "Signs requests of a webhook. It is not returned again." }),
  })
  .meta({ id: "TriggerCreation" });
const changed = response("The trigger.", answer);
const jobErrors = ["DATASET_NOT_FOUND", "DATASET_WITHOUT_ACTIVE_VERSION", "TRIGGER_BUSY"] as const;

export const createTrigger = operation("createTrigger", "POST /triggers", {
  summary: "Create a trigger",
  description:
    "From now on each new version of the dataset, each scheduled time, each finding of the monitor, each promotion of the model or each signed request starts one run, even if its event is repeated. Idempotent for the same definition.",
  body: definition,
  bodyExample: examples.triggerDefinition,
  idempotent: true,
  responses: {
    200: response("The same trigger already exists.", creation),
    201: response("The trigger.", creation),
  },
  errors: ["TRIGGER_EXISTS", ...jobErrors],
});

export const listTriggers = operation("listTriggers", "GET /triggers", {
  summary: "List triggers by name",
  ...pageOf({ id: "TriggerPage" }, triggerState),
});

export const getTrigger = operation("getTrigger", "GET /triggers/{trigger}", {
  summary: "Get a trigger and its state",
  description: "A deleted one, too.",
  params,
  responses: {
    200: response(
      "The trigger.",
      z
        .object({
          state: triggerState,
          next: z.array(instant).meta({ description: "The next scheduled times; empty for a rate." }),
        })
        .meta({ id: "TriggerDetails" }),
    ),
  },
  errors: ["TRIGGER_NOT_FOUND"],
});

export const replaceTrigger = operation("replaceTrigger", "PUT /triggers/{trigger}", {
  summary: "Replace the definition of a trigger",
  params,
  body: definition,
  bodyExample: examples.triggerDefinition,
  responses: { 200: changed },
  errors: ["TRIGGER_NOT_FOUND", ...jobErrors],
});

export const deleteTrigger = operation("deleteTrigger", "DELETE /triggers/{trigger}", {
  summary: "End a trigger",
  description: "Its history can still be read. Idempotent.",
  params,
  responses: { 200: changed },
  errors: ["TRIGGER_NOT_FOUND", "TRIGGER_BUSY"],
});

export const disableTrigger = operation("disableTrigger", "POST /triggers/{trigger}/disable", {
  summary: "Disable a trigger: it skips its causes",
  params,
  body: z.strictObject({ reason }).meta({ id: "DisableRequest" }),
  bodyExample: { reason: "labels of March are in doubt" },
  idempotent: true,
  responses: { 200: changed },
  errors: ["TRIGGER_NOT_FOUND", "TRIGGER_BUSY"],
});

export const enableTrigger = operation("enableTrigger", "POST /triggers/{trigger}/enable", {
  summary: "Enable a trigger for later causes",
  params,
  idempotent: true,
  responses: { 200: changed },
  errors: ["TRIGGER_NOT_FOUND", "TRIGGER_BUSY"],
});

export const listTriggerCauses = operation("listTriggerCauses", "GET /triggers/{trigger}/causes", {
  summary: "List the causes of a trigger with their results, newest first",
  params,
  ...pageOf({ id: "TriggerCausePage" }, causeRecord),
  errors: ["TRIGGER_NOT_FOUND"],
});

export const fireTrigger = operation("fireTrigger", "POST /triggers/{trigger}/fire", {
  summary: "Fire a trigger now, by hand",
  description:
    "Ignores the trigger's limits, also if it is disabled. `cause.state` is `failed` with a reason if no run could be created.",
  params,
  idempotencyKey: true,
  responses: {
    201: response("The cause, with its run.", z.object({ cause: causeRecord }).meta({ id: "TriggerFireAnswer" })),
  },
  errors: ["TRIGGER_NOT_FOUND", "TRIGGER_BUSY"],
});

export const receiveHook = operation("receiveHook", "POST /hooks/{team}/{trigger}", {
  summary: "Fire a webhook's trigger by a signed request",
  description:
    "Takes no token. The signature is `sha256=` and the hex HMAC-SHA256 of `timestamp.body` with the trigger's secret; the timestamp is in seconds since the epoch and at most five minutes from now. The same signed content is the same cause.",
  params: z.strictObject({ team: nameText, trigger: nameText }),
  headers: z.object({ "x-ringmaster-timestamp": z.string().max(20), "x-ringmaster-signature": z.string().max(100) }),
  body: z.looseObject({}).meta({ id: "HookBody", description: "JSON of at most 16 KiB." }),
  bodyExample: { branch: "main" },
  idempotent: true,
  responses: {
    202: response("The cause.", causeRecord.pick({ id: true, state: true, runId: true }).meta({ id: "HookAnswer" })),
  },
  errors: ["TRIGGER_BUSY"],
});
