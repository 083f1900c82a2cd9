import type { Person } from "../access/person";
import type { ColumnSchema } from "../datasets/manifest";
import type { FeatureTransform, LabelEncoding } from "../features/manifest";
import type { ContentReference } from "../ports";
import type { Traffic } from "../serving/traffic";
import type { NumericsRecord } from "../training/numerics";
import type { GateVerdict } from "./gates/verdict";
import type { ModelPolicy, PolicyProposal } from "./policy";

export const stages = ["none", "staging", "canary", "production", "archived"] as const;
export type Stage = (typeof stages)[number];

/** `deleted`: hidden from lists and from every change but its restoration; nothing of it is gone. */
export type Lifecycle = "active" | "deleted";

/** A registered model: the head row, whose `revision` guards every change of the model and its versions. */
export interface Model {
  readonly name: string;
  readonly team: string;
  readonly revision: number;
  readonly lifecycle: Lifecycle;
  readonly latestVersion: number;
  /** Versions below belong to a model of this name that was deleted before this one was made; 1 where there was none. */
  readonly firstVersion: number;
  /** Markdown. */
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  /** Version by name. `champion` follows production from the first promotion on. */
  readonly aliases: Readonly<Record<string, number>>;
  /** The name that the model has now, where this one was given up. */
  readonly renamedTo?: string;
  /** Those that it had, oldest first: history of revisions `from` to `until` is under each. */
  readonly formerNames?: readonly FormerName[];
  /** The revision that gave it this name; absent where it never had another. */
  readonly nameSince?: number;
  /** The gates and approvals that it declares. */
  readonly policy?: ModelPolicy;
  /** Looser approval rules that people have requested. */
  readonly policyProposal?: PolicyProposal;
  /** Who answers whom beside the champion. */
  readonly traffic?: Traffic;
  /** The champion, if there is one. */
  readonly production?: number;
  /** The revision that made it so: grows with each promotion and rollback. */
  readonly productionRevision?: number;
  /** Former champions, latest last, each once: where a rollback goes. */
  readonly formerProduction: readonly number[];
  readonly createdBy: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface FormerName {
  readonly name: string;
  readonly from: number;
  readonly until: number;
}

/** One made by a run of ours has run, weights, artifact, dataset and report; one that was registered from elsewhere what its maker told. */
export interface ModelVersion {
  readonly model: string;
  readonly version: number;
  /** Given once, for good, to one version of the model. */
  readonly semver?: string;
  readonly stage: Stage;
  readonly lifecycle: Lifecycle;
  /** Markdown. */
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  /** Display name of the caller that submitted the run, or registered the version. */
  readonly submittedBy: string;
  /** Ids of the people who submitted the run, wrote its retraining rule or registered the version; absent where they are not known. */
  readonly submitters?: readonly string[];
  readonly runId?: string;
  /** Where the run is shown, of one that is not here. */
  readonly runLink?: string;
  readonly loggedModelId?: string;
  readonly weightsSha256?: string;
  /** Key of the artifact manifest. */
  readonly artifactKey?: string;
  /** Where its files lie, of one that was made elsewhere: a URI. */
  readonly source?: string;
  /** `ringmaster`, `sklearn`, `pytorch`, … */
  readonly framework?: string;
  readonly signature?: ModelSignature;
  readonly dataset?: { readonly name: string; readonly version?: number; readonly digest: string };
  readonly metrics: Readonly<Record<string, number>>;
  readonly evaluationReport?: ContentReference;
  readonly gate?: GateVerdict;
  /** Every person's word since the last verdict, oldest first. */
  readonly approvals: readonly Approval[];
  /** The word that decided: the last approval that was needed, or a rejection. */
  readonly approval?: Approval;
  /** Why approvals that it had no longer count; until it is promoted. */
  readonly approvalsWithdrawn?: ApprovalsWithdrawn;
  /** Of a version that was promoted: what it was promoted upon. */
  readonly served?: {
    readonly gate: GateVerdict;
    readonly approvals: readonly Approval[];
    readonly approval: Approval;
  };
  /** The run whose state machine waits for the approval. */
  readonly awaitedBy?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** What goes in and what comes out. A wide one (over 1,000 fields) is in the artifact alone. */
export interface ModelSignature {
  readonly inputs: readonly SignatureField[];
  readonly outputs: readonly SignatureField[];
  /** Of a call, beside its rows. */
  readonly params?: readonly (SignatureField & { readonly default?: string })[];
}

export interface SignatureField {
  readonly name?: string;
  /** `float`, `int64`, `string`, … as the framework has it. */
  readonly type: string;
  /** -1: any size. */
  readonly shape?: readonly number[];
  readonly required?: boolean;
}

export interface Approval {
  readonly decision: "approved" | "rejected";
  /** A display name. */
  readonly by: string;
  /** Absent in rows of earlier releases, and where the caller was not authenticated as a person. */
  readonly person?: Person;
  readonly reason: string;
  readonly at: string;
}

/** Records that approvals of a version no longer count: it was rolled back, ended as a canary, or evaluated again with other evidence. */
export interface ApprovalsWithdrawn {
  readonly after: "rolled-back" | "canary-ended" | "evaluated-again";
  /** The people whose approvals were withdrawn; absent in rows of earlier releases. */
  readonly of?: readonly string[];
  /** The change that withdrew them: history has the rest. */
  readonly revision: number;
  readonly by: string;
  readonly reason?: string;
  readonly at: string;
}

export const historyActions = [
  "created",
  "registered",
  "gated",
  "approval-requested",
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
] as const;
export type HistoryAction = (typeof historyActions)[number];

/** One line of a model's history; append-only. */
export interface HistoryEntry {
  /** The model's revision that this change made. */
  readonly revision: number;
  readonly action: HistoryAction;
  /** The name that the model had then, where it has another now: revisions are each name's own. */
  readonly model?: string;
  /** Absent where the model itself was changed. */
  readonly version?: number;
  /** The version's stage before and after, where it moved. */
  readonly from?: Stage;
  readonly to?: Stage;
  /** The champion that made room. */
  readonly replaced?: number;
  /** Which tag, alias, semver; the other name of a model that was renamed. */
  readonly subject?: string;
  /** Why this change withdrew approvals of the version, and whose. */
  readonly approvalsWithdrawn?: string;
  readonly by: string;
  /** Identity of the person who made the change, where the gateway authenticated one. */
  readonly personId?: string;
  readonly reason?: string;
  readonly at: string;
}

/** What serving loads: the manifest at a version's `artifactKey`. */
export interface ModelArtifact {
  readonly format: 1;
  readonly runId: string;
  readonly model: string;
  readonly weights: ContentReference;
  /** tfjs-layers topology JSON. */
  readonly topology: ContentReference;
  readonly weightsSha256: string;
  readonly transform: FeatureTransform;
  readonly label: LabelEncoding;
  readonly inputSchema: readonly ColumnSchema[];
  readonly outputSchema: OutputSchema;
  readonly numerics: NumericsRecord;
}

export type OutputSchema =
  | { readonly kind: "probabilities"; readonly classes: readonly (string | number | boolean)[] }
  | { readonly kind: "value"; readonly column: string };

/** The caller of a change. */
export interface Actor {
  /** A display name. */
  readonly by: string;
  /** Absent where the caller is a system, or was not authenticated as a person. */
  readonly person?: Person;
  readonly reason?: string;
  /** ISO 8601. */
  readonly at: string;
}
