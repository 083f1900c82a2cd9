// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type { ColumnSchema, Instant, MetricValue, NumericsRecord, Sha256, Traffic } from "./shared";

export interface AliasRequest {
  readonly version: number;
  /** Why, for the record. */
  readonly reason?: string;
}

export interface Approval {
  readonly decision: "approved" | "rejected";
  /** A display name. */
  readonly by: string;
  /** The person by its immutable id and names; absent where the caller was not authenticated. */
  readonly person?: {
    /** Immutable id of the person, as the gateway authenticated it. */
    readonly id: string;
    readonly names: readonly string[];
  };
  readonly reason: string;
  readonly at: Instant;
}

export interface Calibration {
  readonly of: "positive" | "predicted";
  readonly bins: readonly {
    readonly from: number;
    readonly to: number;
    readonly rows: number;
    readonly confidence: number;
    readonly observed: number;
  }[];
  /** Expected calibration error. */
  readonly error: number;
}

export interface CheckAnswer {
  readonly passed: boolean;
  readonly evidence: string;
  readonly by: string;
  readonly at: Instant;
  readonly exitCode?: number;
  readonly command?: string;
  /** The end of what the command wrote. */
  readonly output?: string;
}

export interface CheckAnswerRequest {
  readonly passed: boolean;
  /** A sentence. */
  readonly evidence?: string;
  readonly exitCode?: number;
  readonly command?: string;
  /** The end of what the command wrote. */
  readonly output?: string;
}

export interface CheckKey {
  readonly check: string;
  readonly generation: number;
  readonly key: string;
}

/** Something in the content store. */
export interface ContentReference {
  readonly sha256: Sha256;
  readonly bytes: number;
}

export interface CreateModelRequest {
  readonly name: string;
  /** Markdown. */
  readonly description?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** Why, for the record. */
  readonly reason?: string;
}

export interface DecisionRequest {
  readonly decision: "approved" | "rejected";
  /** Why, for the record. */
  readonly reason?: string;
}

export interface DescriptionRequest {
  /** Markdown. */
  readonly description: string;
  /** Why, for the record. */
  readonly reason?: string;
}

/** The files of one format, all in the content store. */
export interface Export {
  readonly format: "onnx" | "safetensors" | "tfjs" | "mlflow";
  /** Of the exporter. */
  readonly revision: number;
  readonly model: string;
  readonly runId: string;
  readonly weightsSha256: Sha256;
  readonly files: readonly ExportedFile[];
  readonly check: {
    readonly rows: number;
    readonly tolerance: number;
  };
}

export interface ExportAnswer {
  readonly export: Export;
}

export interface ExportList {
  readonly exports: readonly Export[];
}

export interface ExportRequest {
  readonly format: "onnx" | "safetensors" | "tfjs" | "mlflow";
}

export interface ExportedFile {
  readonly path: string;
  readonly sha256: Sha256;
  readonly bytes: number;
  readonly contentType: string;
  /** From the platform's own prediction, the largest of the check's rows; absent of a file that nothing runs. */
  readonly difference?: number;
}

/** The fitted transform: raw row in, dense input out. */
export interface FeatureTransform {
  readonly outputs: readonly (
    | {
        readonly kind: "numeric";
        readonly column: string;
        readonly offset: number;
        readonly width: number;
        readonly source: number;
        readonly mean: number;
        readonly deviation: number;
      }
    | {
        readonly kind: "one-hot";
        readonly column: string;
        readonly offset: number;
        readonly width: number;
        readonly source: number;
        readonly part?: "hour" | "dayOfWeek" | "month";
        readonly vocabulary: readonly (string | number | boolean)[];
      }
  )[];
  readonly width: number;
  readonly shape: readonly number[];
}

export interface GateCheck {
  readonly gate:
    | "threshold"
    | "no-regression"
    | "worst-slice"
    | "slice-gap"
    | "demographic-parity"
    | "equalized-odds"
    | "latency"
    | "size"
    | "check";
  readonly metric: string;
  readonly value: number | null;
  readonly limit: number | null;
  readonly passed: boolean;
  /** Nobody has answered yet. */
  readonly pending?: true;
  /** Its rule was not kept, and the model's policy does not ask for it. */
  readonly waived?: true;
  /** A sentence: which value, which rule. */
  readonly evidence: string;
  readonly interval?: PairedInterval;
  readonly slices?: SliceEvidence;
  readonly external?: {
    readonly kind: "http" | "command";
    readonly digest: string;
    readonly answer?: CheckAnswer;
  };
}

export interface GateVerdict {
  readonly passed: boolean;
  readonly checks: readonly GateCheck[];
  /** Of the policy that it was judged by. */
  readonly rulesRevision?: number;
  /** The version that it was compared with. */
  readonly champion?: number;
  /** The verdict with its whole evidence, as JSON. */
  readonly document?: ContentReference;
  readonly at: Instant;
}

/** Who did what, when and why; append-only. */
export interface HistoryEntry {
  readonly revision: number;
  readonly action:
    | "created"
    | "registered"
    | "gated"
    | "approval-requested"
    | "approved"
    | "rejected"
    | "staged"
    | "promoted"
    | "rolled-back"
    | "described"
    | "tagged"
    | "untagged"
    | "alias-set"
    | "alias-deleted"
    | "semver-set"
    | "policy-set"
    | "policy-proposed"
    | "traffic-set"
    | "renamed"
    | "deleted"
    | "restored";
  /** Absent where the model itself was changed. */
  readonly version?: number;
  readonly from?: "none" | "staging" | "canary" | "production" | "archived";
  readonly to?: "none" | "staging" | "canary" | "production" | "archived";
  /** The champion that made room. */
  readonly replaced?: number;
  /** The name that it had then, where it has another now: revisions are each name's own. */
  readonly model?: string;
  /** Which tag, alias, semver; the other name of a model that was renamed. */
  readonly subject?: string;
  /** Why this change withdrew approvals of the version, and whose. */
  readonly approvalsWithdrawn?: string;
  readonly by: string;
  /** Immutable id of the person, as the gateway authenticated it. */
  readonly personId?: string;
  readonly reason?: string;
  readonly at: Instant;
}

export type LabelEncoding =
  | {
      readonly kind: "class";
      readonly column: string;
      readonly classes: readonly (string | number | boolean)[];
    }
  | {
      readonly kind: "value";
      readonly column: string;
    };

/** Times of single predictions, on the machine that evaluated. */
export interface Latency {
  readonly predictions: number;
  readonly warmUp: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly histogram: readonly {
    readonly fromMs: number;
    readonly toMs: number;
    readonly count: number;
  }[];
  readonly machine: {
    readonly cpu: string;
    readonly processors: number;
    readonly memoryMb: number;
    readonly host: string;
    readonly node: string;
    readonly platform: string;
    readonly arch: string;
  };
}

/** A registered model. */
export interface Model {
  readonly name: string;
  readonly team: string;
  /** Counts every change of the model and its versions. */
  readonly revision: number;
  /** `deleted`: hidden, and never gone. */
  readonly lifecycle: "active" | "deleted";
  readonly latestVersion: number;
  /** Older ones belong to a model of this name that was deleted. */
  readonly firstVersion: number;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  /** Version by name; `champion` follows production. */
  readonly aliases: Readonly<Record<string, number>>;
  /** Names that it had, oldest first, and the revisions that its history has of each. */
  readonly formerNames?: readonly {
    readonly name: string;
    readonly from: number;
    readonly until: number;
  }[];
  /** The revision that gave it this name, where it had another. */
  readonly nameSince?: number;
  /** The name that it has now, where this one was given up. */
  readonly renamedTo?: string;
  readonly policy?: ModelPolicy;
  readonly policyProposal?: PolicyProposal;
  readonly traffic?: Traffic;
  /** The champion, if there is one. */
  readonly production?: number;
  /** The revision that made it so. */
  readonly productionRevision?: number;
  /** Former champions, latest last: where a rollback goes. */
  readonly formerProduction: readonly number[];
  readonly createdBy: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export interface ModelAnswer {
  readonly model: Model;
}

/** What serving loads. */
export interface ModelArtifact {
  readonly format: 1;
  readonly runId: string;
  readonly model: string;
  readonly weights: ContentReference;
  /** tfjs-layers topology JSON. */
  readonly topology: ContentReference;
  readonly weightsSha256: Sha256;
  readonly transform: FeatureTransform;
  readonly label: LabelEncoding;
  readonly inputSchema: readonly ColumnSchema[];
  readonly outputSchema: OutputSchema;
  readonly numerics: NumericsRecord;
}

export interface ModelChange {
  readonly model: Model;
  readonly version: ModelVersion;
}

/** The data that a version was made of. */
export interface ModelDataset {
  readonly name: string;
  readonly version?: number;
  readonly digest: string;
}

export interface ModelDetails {
  readonly model: Model;
  readonly versions: readonly ModelVersion[];
  readonly history: readonly HistoryEntry[];
  /** Where history has older entries: `nextToken` of `listModelHistory` for those. */
  readonly historyNextToken?: string;
  /** The next minor release after the highest. */
  readonly suggestedSemver: string;
}

export interface ModelFile {
  readonly sha256: Sha256;
  readonly bytes: number;
  readonly name: string;
}

export interface ModelHistoryPage {
  readonly items: readonly HistoryEntry[];
  /** Opaque; absent on the last page. */
  readonly nextToken?: string;
}

export interface ModelList {
  readonly models: readonly Model[];
}

/** The policy in force. */
export interface ModelPolicy {
  readonly rules: {
    readonly thresholds: Readonly<Record<string, number>>;
    readonly noRegression?:
      | {
          readonly tolerance: number;
          readonly rule: "credible" | "excluded";
          readonly incompatible: "refuse" | "pass";
        }
      | "waived";
    readonly slices: readonly {
      readonly metric: string;
      readonly worst?: number;
      readonly gap?: number;
      readonly column: string;
      readonly minRows: number;
      readonly rule: "credible" | "excluded";
    }[];
    readonly fairness: readonly {
      readonly positive?: string | number | boolean;
      readonly demographicParity?: number;
      readonly equalizedOdds?: number;
      readonly column: string;
      readonly minRows: number;
      readonly rule: "credible" | "excluded";
    }[];
    readonly latency?: {
      readonly p99Ms: number;
    };
    readonly size?: {
      readonly bytes: number;
    };
    readonly checks: readonly (
      | {
          readonly kind: "http";
          readonly name: string;
          readonly url: string;
          readonly timeoutSeconds: number;
          readonly keyGeneration: number;
        }
      | {
          readonly kind: "command";
          readonly name: string;
          readonly command: readonly string[];
          readonly timeoutSeconds: number;
        }
    )[];
  };
  readonly approvals: {
    /** How many different people. */
    readonly required: number;
    /** Who may; empty: everybody in the team. */
    readonly approvers: readonly string[];
    /** Whoever submitted the run or registered the version does not count. */
    readonly notTheSubmitter: boolean;
  };
  /** The model's revision that made this policy. */
  readonly revision: number;
  /** The revision that last changed the rules: verdicts of older rules are outdated. */
  readonly rulesRevision: number;
  readonly by: string;
  readonly at: Instant;
}

export interface ModelPolicyAnswer {
  readonly policy?: ModelPolicy;
  readonly history: readonly ModelPolicy[];
}

/** What goes in and what comes out. */
export interface ModelSignature {
  readonly inputs: readonly {
    readonly name?: string;
    readonly type: string;
    /** -1: any size. */
    readonly shape?: readonly number[];
    readonly required?: boolean;
  }[];
  readonly outputs: readonly {
    readonly name?: string;
    readonly type: string;
    /** -1: any size. */
    readonly shape?: readonly number[];
    readonly required?: boolean;
  }[];
  readonly params?: readonly {
    readonly name?: string;
    readonly type: string;
    /** -1: any size. */
    readonly shape?: readonly number[];
    readonly required?: boolean;
    readonly default?: string;
  }[];
}

export interface ModelVersion {
  readonly model: string;
  readonly version: number;
  readonly semver?: string;
  readonly stage: "none" | "staging" | "canary" | "production" | "archived";
  /** `deleted`: hidden, and never gone. */
  readonly lifecycle: "active" | "deleted";
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  /** Whoever submitted the run, or registered the version. */
  readonly submittedBy: string;
  /** Their immutable ids, where they are known. */
  readonly submitters?: readonly string[];
  readonly runId?: string;
  readonly runLink?: string;
  readonly loggedModelId?: string;
  readonly weightsSha256?: Sha256;
  readonly artifactKey?: string;
  /** Where its files lie, of one that was made elsewhere. */
  readonly source?: string;
  readonly framework?: string;
  readonly signature?: ModelSignature;
  readonly dataset?: ModelDataset;
  readonly metrics: Readonly<Record<string, number>>;
  /** Not the version's, but of the run or the logged model that it was made of: last values, as of now. Answered by `getModel` (of the newest 100 versions) and `getModelVersion`. */
  readonly loggedMetrics?: Readonly<Record<string, MetricValue>>;
  /** The steps that lead it to production, in their order. Answered by `getModel` (of the newest 20 versions), `getModelVersion` and every decision on a version. */
  readonly next?: readonly NextStep[];
  readonly evaluationReport?: ContentReference;
  readonly gate?: GateVerdict;
  /** Every person's word since the last verdict. */
  readonly approvals: readonly Approval[];
  /** The word that decided. */
  readonly approval?: Approval;
  /** Why approvals that it had no longer count: it needs new ones. */
  readonly approvalsWithdrawn?: {
    readonly after: "rolled-back" | "canary-ended" | "evaluated-again";
    /** The people whose approvals were withdrawn. */
    readonly of?: readonly string[];
    readonly revision: number;
    readonly by: string;
    readonly reason?: string;
    readonly at: Instant;
  };
  /** What it was promoted upon; a rollback to it rests on that. */
  readonly served?: {
    readonly gate: GateVerdict;
    readonly approvals: readonly Approval[];
    readonly approval: Approval;
  };
  /** The run that waits for the approval. */
  readonly awaitedBy?: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export interface ModelVersionAnswer {
  readonly version: ModelVersion;
}

/** What has to happen next to a version before it is in production. */
export interface NextStep {
  /** `check`, `approval`, `test`: people or systems outside have to act. `evaluation`: the gates have to evaluate the version. `run`: its run does it. `promotion`: nothing is missing, and nothing promotes it by itself. `none`: nothing leads to production. */
  readonly kind: "check" | "approval" | "test" | "evaluation" | "run" | "promotion" | "none";
  /** Name of the check. */
  readonly name?: string;
  readonly what: string;
  /** The command that does it, or shows it. */
  readonly command?: string;
}

export type OutputSchema =
  | {
      readonly kind: "probabilities";
      readonly classes: readonly (string | number | boolean)[];
    }
  | {
      readonly kind: "value";
      readonly column: string;
    };

/** Candidate minus champion on the same rows: a paired bootstrap. */
export interface PairedInterval {
  readonly difference: number;
  readonly lower: number;
  readonly upper: number;
  readonly confidence: number;
  readonly rows: number;
  readonly resamples: number;
  readonly seed: number;
}

/** Looser approval rules, and the people who have requested them: not yet enough. */
export interface PolicyProposal {
  readonly rules: {
    readonly thresholds: Readonly<Record<string, number>>;
    readonly noRegression?:
      | {
          readonly tolerance: number;
          readonly rule: "credible" | "excluded";
          readonly incompatible: "refuse" | "pass";
        }
      | "waived";
    readonly slices: readonly {
      readonly metric: string;
      readonly worst?: number;
      readonly gap?: number;
      readonly column: string;
      readonly minRows: number;
      readonly rule: "credible" | "excluded";
    }[];
    readonly fairness: readonly {
      readonly positive?: string | number | boolean;
      readonly demographicParity?: number;
      readonly equalizedOdds?: number;
      readonly column: string;
      readonly minRows: number;
      readonly rule: "credible" | "excluded";
    }[];
    readonly latency?: {
      readonly p99Ms: number;
    };
    readonly size?: {
      readonly bytes: number;
    };
    readonly checks: readonly (
      | {
          readonly kind: "http";
          readonly name: string;
          readonly url: string;
          readonly timeoutSeconds: number;
          readonly keyGeneration: number;
        }
      | {
          readonly kind: "command";
          readonly name: string;
          readonly command: readonly string[];
          readonly timeoutSeconds: number;
        }
    )[];
  };
  readonly approvals: {
    /** How many different people. */
    readonly required: number;
    /** Who may; empty: everybody in the team. */
    readonly approvers: readonly string[];
    /** Whoever submitted the run or registered the version does not count. */
    readonly notTheSubmitter: boolean;
  };
  readonly requests: readonly {
    readonly by: string;
    readonly person: {
      readonly id: string;
      readonly names: readonly string[];
    };
    readonly at: Instant;
  }[];
}

export interface PolicyRequest {
  readonly rules?: {
    readonly thresholds?: Readonly<Record<string, number>>;
    readonly noRegression?:
      | {
          readonly tolerance?: number;
          readonly rule?: "credible" | "excluded";
          readonly incompatible?: "refuse" | "pass";
        }
      | "waived";
    readonly slices?: readonly {
      readonly metric: string;
      readonly worst?: number;
      readonly gap?: number;
      readonly column: string;
      readonly minRows?: number;
      readonly rule?: "credible" | "excluded";
    }[];
    readonly fairness?: readonly {
      readonly positive?: string | number | boolean;
      readonly demographicParity?: number;
      readonly equalizedOdds?: number;
      readonly column: string;
      readonly minRows?: number;
      readonly rule?: "credible" | "excluded";
    }[];
    readonly latency?: {
      readonly p99Ms: number;
    };
    readonly size?: {
      readonly bytes: number;
    };
    readonly checks?: readonly (
      | {
          readonly kind: "http";
          readonly name: string;
          readonly url: string;
          readonly timeoutSeconds?: number;
          readonly keyGeneration?: number;
        }
      | {
          readonly kind: "command";
          readonly name: string;
          readonly command: readonly string[];
          readonly timeoutSeconds?: number;
        }
    )[];
  };
  readonly approvals?: {
    /** How many different people. */
    readonly required?: number;
    /** Who may; empty: everybody in the team. */
    readonly approvers?: readonly string[];
    /** Whoever submitted the run or registered the version does not count. */
    readonly notTheSubmitter?: boolean;
  };
  /** Why, for the record. */
  readonly reason?: string;
}

export interface PolicySetAnswer {
  readonly model: Model;
  /** What keeps the policy from being in force or from being met. */
  readonly warnings?: readonly {
    readonly code: string;
    readonly message: string;
  }[];
}

export interface ReasonRequest {
  /** Why, for the record. */
  readonly reason?: string;
}

export interface RegisterModelRequest {
  readonly name: string;
  /** Where its files lie: a place in an object store; among the files of `runId` (`runs:/…`, `mlflow-artifacts:/…`) or of `loggedModelId` (`models:/m-…`); or another version (`models:/NAME/3`, `models:/NAME@ALIAS`), whose run and logged model it has. Paths of a machine, paths that climb and places that name a host are refused. */
  readonly source: string;
  readonly framework?: string;
  /** The run that made it, trained here or logged. */
  readonly runId?: string;
  readonly runLink?: string;
  readonly loggedModelId?: string;
  readonly weightsSha256?: Sha256;
  readonly signature?: ModelSignature;
  readonly dataset?: ModelDataset;
  readonly metrics?: Readonly<Record<string, number>>;
  readonly semver?: string;
  /** Markdown. */
  readonly description?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** Why, for the record. */
  readonly reason?: string;
}

/** What serving should load. */
export interface ResolvedModel {
  readonly model: string;
  readonly version: number;
  /** The model's revision that put it into production. */
  readonly revision: number;
  readonly runId?: string;
  /** The artifact manifest; of a version from elsewhere its source. */
  readonly artifactUri: string;
  readonly weightsUri?: string;
  /** Of the weights. */
  readonly sha256?: Sha256;
  readonly inputSchema?: readonly ColumnSchema[];
  readonly outputSchema?: OutputSchema;
  readonly signature?: ModelSignature;
  readonly framework?: string;
  readonly metrics: Readonly<Record<string, number>>;
  /** Of a version that was trained here. */
  readonly artifact?: ModelArtifact;
}

export interface RollbackRequest {
  /** Why, for the record. */
  readonly reason?: string;
  /** The version that is to go. */
  readonly from?: number;
}

export interface SemverRequest {
  readonly semver: string;
  /** Why, for the record. */
  readonly reason?: string;
}

/** Slices of the test split, with intervals that hold for all of them together. */
export interface SliceEvidence {
  readonly column: string;
  /** The class whose rates were compared. */
  readonly positive?: string | number | boolean;
  readonly rate?: "selection" | "true-positive" | "false-positive";
  readonly estimate: number;
  readonly lower: number;
  readonly upper: number;
  readonly confidence: number;
  readonly resamples: number;
  readonly seed: number;
  readonly rows: number;
  readonly minimumRows: number;
  readonly slices: readonly {
    readonly value: string | number | boolean | null;
    readonly rows: number;
    readonly estimate: number;
    readonly lower: number;
    readonly upper: number;
  }[];
  readonly judged: number;
  readonly leftOut: number;
}

export interface StageRequest {
  readonly stage: "none" | "staging" | "canary" | "production" | "archived";
  /** Why, for the record. */
  readonly reason?: string;
}

export interface TagRequest {
  readonly key: string;
  readonly value: string;
  /** Why, for the record. */
  readonly reason?: string;
}

/** All that the verdict on a version rests on. */
export interface VersionReport {
  readonly model: string;
  readonly version: number;
  readonly stage: "none" | "staging" | "canary" | "production" | "archived";
  readonly runId?: string;
  readonly dataset?: {
    readonly name: string;
    readonly version?: number;
    readonly digest: string;
  };
  readonly createdAt: Instant;
  readonly metrics: Readonly<Record<string, number>>;
  readonly gate?: GateVerdict;
  readonly approvals: readonly Approval[];
  /** Why earlier approvals no longer count. */
  readonly approvalsWithdrawn?: string;
  /** What serving loads, in the content store. */
  readonly files?: readonly ModelFile[];
  readonly latency?: Latency;
  readonly evaluation?: {
    readonly rows: number;
    readonly label: string;
    readonly classes?: readonly {
      readonly value: string | number | boolean;
      readonly support: number;
      readonly precision: number;
      readonly recall: number;
      readonly f1: number;
      readonly auc?: number;
    }[];
    /** Rows are true classes, columns predicted ones. */
    readonly confusionMatrix?: readonly (readonly number[])[];
    readonly slices: readonly {
      readonly column: string;
      readonly value: string | number | boolean | null;
      readonly rows: number;
      readonly metrics: Readonly<Record<string, number>>;
    }[];
    readonly calibration?: Calibration;
  };
}
