import * as z from "zod";
import type { Person } from "../access/principals";
import type { RunStepKind } from "../runs/run-states";
import { contentReference, count, instant, metrics, metricValue, type Shape, sha256, texts } from "../shapes";
import { gateVerdict } from "./gates/verdict";
import { type ModelPolicy, modelPolicy, type PolicyProposal, policyProposal } from "./policy";
import { traffic } from "./serving/shapes";

export const stages = ["none", "staging", "canary", "production", "archived"] as const;

export const version = z.int().min(1);

export const stage = z.enum(stages);
export type Stage = Shape<typeof stage>;

const lifecycle = z.enum(["active", "deleted"]).meta({ description: "`deleted`: hidden, and never gone." });

export const modelDataset = z
  .object({ name: z.string().min(1).max(500), version: version.optional(), digest: z.string().min(1).max(128) })
  .meta({ id: "ModelDataset", description: "The data that a version was made of." });

const signatureField = z.object({
  name: z.string().max(1_000).optional(),
  type: z.string().min(1).max(100),
  shape: z.array(z.int().min(-1)).max(16).optional().meta({ description: "-1: any size." }),
  required: z.boolean().optional(),
});

export const modelSignature = z
  .object({
    inputs: z.array(signatureField).max(1_000),
    outputs: z.array(signatureField).max(1_000),
    params: z
      .array(signatureField.extend({ default: z.string().max(1_000).optional() }))
      .max(100)
      .optional(),
  })
  .meta({ id: "ModelSignature", description: "Input and output schemas." });
export interface ModelSignature extends Shape<typeof modelSignature> {}

export const model = z
  .object({
    name: z.string(),
    team: z.string(),
    revision: count.meta({ description: "Counts every change of the model and its versions." }),
    lifecycle,
    latestVersion: count,
    firstVersion: version.meta({ description: "Older ones belong to a model of this name that was deleted." }),
    description: z.string(),
    tags: texts,
    aliases: z.record(z.string(), version).meta({ description: "Version by name; `champion` follows production." }),
    renamedTo: z.string().optional().meta({ description: "The model's new name, if it was renamed." }),
    policy: modelPolicy.optional(),
    policyProposal: policyProposal.optional(),
    traffic: traffic.optional(),
    production: version.optional().meta({ description: "The champion, if there is one." }),
    productionRevision: count.optional().meta({ description: "The revision that made it so." }),
    formerProduction: z.array(version).meta({ description: "Former champions, latest last: where a rollback goes." }),
    createdBy: z.string(),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: "Model", description: "A registered model." });
export interface Model extends Omit<Shape<typeof model>, "policy" | "policyProposal"> {
  readonly policy?: ModelPolicy;
  readonly policyProposal?: PolicyProposal;
}

const personId = z.string().meta({ description: "Immutable id of the person, as the gateway authenticated it." });

const person = z
  .object({ id: personId, names: z.array(z.string()) })
  .meta({ description: "The person by its immutable id and names; absent where the caller was not authenticated." });

export const decision = z.enum(["approved", "rejected"]);

export const approval = z
  .object({
    decision,
    by: z.string().meta({ description: "A display name." }),
    person: person.optional(),
    policy: z
      .object({ revision: count, by: z.array(z.string()) })
      .optional()
      .meta({ description: "The policy that requires no person's approval, and the people who set it." }),
    reason: z.string(),
    at: instant,
  })
  .meta({ id: "Approval" });
export interface Approval extends Shape<typeof approval> {}

export const nextStep = z
  .object({
    kind: z.enum(["check", "approval", "test", "evaluation", "run", "promotion", "none"]).meta({
      description:
        "`check`, `approval`, `test`: people or systems outside have to act. `evaluation`: the gates have to evaluate the version. " +
        "`run`: its run does it. `promotion`: nothing is missing, and nothing promotes it by itself. `none`: nothing leads to production.",
    }),
    name: z.string().optional().meta({ description: "Name of the check." }),
    what: z.string(),
    command: z.string().optional().meta({ description: "The command that does it, or shows it." }),
  })
  .meta({
    id: "NextStep",
    description: "The next step of a version on its way to production.",
  });
export interface NextStep extends Shape<typeof nextStep> {}

export const modelVersion = z
  .object({
    model: z.string(),
    version,
    semver: z.string().optional(),
    stage,
    lifecycle,
    description: z.string(),
    tags: texts,
    submittedBy: z.string().meta({ description: "The actor that submitted the run or registered the version." }),
    submitters: z.array(personId).optional().meta({ description: "Their immutable ids, where they are known." }),
    runId: z.string().optional(),
    runLink: z.string().optional(),
    loggedModelId: z.string().optional(),
    weightsSha256: sha256.optional(),
    artifactKey: z.string().optional(),
    source: z
      .string()
      .optional()
      .meta({ description: "Location of its files; for a version that was made elsewhere." }),
    framework: z.string().optional(),
    signature: modelSignature.optional(),
    dataset: modelDataset.optional(),
    metrics,
    loggedMetrics: z.record(z.string(), metricValue).optional().meta({
      description:
        "Present last values of the run or logged model from which the version was made. Returned by `getModel` (for the newest 100 versions) and `getModelVersion`.",
    }),
    next: z.array(nextStep).optional().meta({
      description:
        "The steps that lead it to production, in their order. Answered by `getModel` (of the newest 20 versions), `getModelVersion` and every decision on a version.",
    }),
    evaluationReport: contentReference.optional(),
    gate: gateVerdict.optional(),
    approvals: z.array(approval).meta({ description: "Every person's approval or rejection since the last verdict." }),
    approval: approval.optional().meta({ description: "The approval or rejection that decided." }),
    approvalsWithdrawn: z
      .object({
        after: z.enum(["rolled-back", "canary-ended", "evaluated-again"]),
        of: z.array(z.string()).optional().meta({ description: "People whose approvals were withdrawn." }),
        revision: count,
        by: z.string(),
        reason: z.string().optional(),
        at: instant,
      })
      .optional()
      .meta({ description: "Reason why earlier approvals no longer count; new ones are needed." }),
    served: z
      .object({ gate: gateVerdict, approvals: z.array(approval), approval })
      .optional()
      .meta({ description: "Verdict and approval of its promotion. A rollback to it uses them." }),
    awaitedBy: z.string().optional().meta({
      description: "The run whose model waits for the approval.",
    }),
    approvalRequest: z
      .object({ id: z.string(), by: z.string(), at: instant, expiresAt: instant, expired: z.literal(true).optional() })
      .optional()
      .meta({ description: "The latest request for an approval after the run's end." }),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: "ModelVersion" });
export interface ModelVersion extends Shape<typeof modelVersion> {}
export type ApprovalsWithdrawn = NonNullable<ModelVersion["approvalsWithdrawn"]>;

export const historyEntry = z
  .object({
    revision: count,
    action: z.enum([
      "created",
      "registered",
      "gated",
      "approval-requested",
      "approval-expired",
      "approved",
      "rejected",
      "staged",
      "promoted",
      "rolled-back",
      "described",
      "tagged",
      "untagged",
      "alias-set",
      "alias-deleted",
      "semver-set",
      "policy-set",
      "policy-proposed",
      "traffic-set",
      "renamed",
      "deleted",
      "restored",
    ]),
    version: version.optional().meta({ description: "Absent where the model itself was changed." }),
    from: stage.optional(),
    to: stage.optional(),
    replaced: version.optional().meta({ description: "The champion that made room." }),
    subject: z.string().optional().meta({
      description: "The tag, alias or semver; the other name of a renamed model.",
    }),
    approvalsWithdrawn: z
      .string()
      .optional()
      .meta({ description: "Approvals of the version that this change withdrew, with the reason." }),
    by: z.string(),
    personId: personId.optional(),
    reason: z.string().optional(),
    at: instant,
  })
  .meta({
    id: "HistoryEntry",
    description: "A change with its actor, time and reason; append-only.",
  });
export interface HistoryEntry extends Shape<typeof historyEntry> {}

export type HistoryAction = HistoryEntry["action"];

export interface Actor {
  readonly by: string;
  /** Absent if the caller is a system, or was not authenticated as a person. */
  readonly person?: Person;
  readonly reason?: string;
  /** ISO 8601. */
  readonly at: string;
}

/** The event that a version needs an approval. Repetitions have the same id. */
export const approvalNeededSchema = z.object({
  id: z.string(),
  type: z.literal("approval.needed"),
  /** Time of the request. ISO 8601. */
  at: z.string(),
  team: z.string(),
  model: z.string(),
  version: z.int(),
  runId: z.string().optional(),
  approvals: z.object({ required: z.int(), given: z.int() }),
  /** The people who may approve; empty: everybody in the team. */
  approvers: z.array(z.string()),
  checks: z.array(z.string()),
  submittedBy: z.string(),
  metrics: z.record(z.string(), z.number()),
  commands: z.object({ approve: z.string(), reject: z.string() }),
});

export type ApprovalNeeded = z.infer<typeof approvalNeededSchema>;

export const registrationOutput = z.object({ model: z.string(), version: z.int() });
export interface RegistrationOutput extends Shape<typeof registrationOutput> {}
export const registrationKind: RunStepKind<RegistrationOutput> = { step: "Register", output: registrationOutput };
