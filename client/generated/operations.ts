// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type {
  CheckpointList,
  ContentUrl,
  DatasetPage,
  DatasetRegistration,
  DatasetRegistrationRequest,
  DatasetVersionAnswer,
  DatasetVersionPage,
  DecisionRequest,
  DeprecationRequest,
  DisableRequest,
  Health,
  LogPage,
  ModelChange,
  ModelDetails,
  ModelList,
  ModelVersionAnswer,
  OpenApiDocument,
  ResolvedModel,
  RestoreRequest,
  RetrainingCausePage,
  RetrainingRuleAnswer,
  RetrainingRuleCreation,
  RetrainingRuleDefinition,
  RetrainingRuleDetails,
  RetrainingRulePage,
  RetrainingRunAnswer,
  RollbackRequest,
  RunAnswer,
  RunDetails,
  RunMetrics,
  RunPage,
  Sha256,
  StageRequest,
  SubmitRequest,
  UploadRequest,
  UploadTargets,
} from "./schemas";

/** Operations that take nothing. */
type NoInput = Readonly<Record<never, never>>;

/** What each operation takes and answers. */
export interface Operations {
  /** End a run: its row, its execution, its workers. */
  readonly cancelTrainingRun: {
    readonly request: {
      readonly params: {
        readonly runId: string;
      };
    };
    readonly answer: RunAnswer;
    readonly pages: never;
  };
  /** Get a run with its steps, attempts, workers and progress. */
  readonly getTrainingRun: {
    readonly request: {
      readonly params: {
        readonly runId: string;
      };
    };
    readonly answer: RunDetails;
    readonly pages: never;
  };
  /** Read what a run's workers printed. */
  readonly getTrainingRunLogs: {
    readonly request: {
      readonly params: {
        readonly runId: string;
      };
      readonly query?: {
        /** Of this one only. */
        readonly worker?: number | string;
        readonly nextToken?: string;
      };
    };
    readonly answer: LogPage;
    readonly pages: "lines";
  };
  /** Get a run's metrics: summaries of all, the points of one, or events that follow it. */
  readonly getTrainingRunMetrics: {
    readonly request: {
      readonly params: {
        readonly runId: string;
      };
      readonly query?: {
        /** The points of this one. */
        readonly metric?: string;
      };
    };
    readonly answer: RunMetrics;
    readonly pages: never;
  };
  /** List a run's checkpoints that can be read, oldest first. */
  readonly listCheckpoints: {
    readonly request: {
      readonly params: {
        readonly runId: string;
      };
    };
    readonly answer: CheckpointList;
    readonly pages: never;
  };
  /** List runs, newest first. */
  readonly listTrainingRuns: {
    readonly request: {
      readonly query?: {
        /** How many, at most. */
        readonly limit?: number | string;
        /** Of the page before: go on where it ended. */
        readonly nextToken?: string;
      };
    };
    readonly answer: RunPage;
    readonly pages: "runs";
  };
  /** Submit a job. */
  readonly submitTrainingRun: {
    readonly request: {
      readonly body: SubmitRequest;
      readonly idempotencyKey?: string;
    };
    readonly answer: RunAnswer;
    readonly pages: never;
  };
  /** Create a run that goes on from a checkpoint of another. */
  readonly restoreTrainingRun: {
    readonly request: {
      readonly params: {
        readonly runId: string;
        readonly epoch: number | string;
      };
      readonly body?: RestoreRequest;
      readonly idempotencyKey?: string;
    };
    readonly answer: RunAnswer;
    readonly pages: never;
  };
  /** Keep new runs from using a version. */
  readonly deprecateDatasetVersion: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
      readonly body?: DeprecationRequest;
    };
    readonly answer: DatasetVersionAnswer;
    readonly pages: never;
  };
  /** Get the version that a new run would use. */
  readonly getDataset: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
    };
    readonly answer: DatasetVersionAnswer;
    readonly pages: never;
  };
  /** Get a version, deprecated or not. */
  readonly getDatasetVersion: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
    };
    readonly answer: DatasetVersionAnswer;
    readonly pages: never;
  };
  /** List a dataset's versions, newest first. */
  readonly listDatasetVersions: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
      readonly query?: {
        /** How many, at most. */
        readonly limit?: number | string;
        /** Of the page before: go on where it ended. */
        readonly nextToken?: string;
      };
    };
    readonly answer: DatasetVersionPage;
    readonly pages: "items";
  };
  /** Register an uploaded snapshot as the next version. */
  readonly registerDatasetVersion: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
      readonly body: DatasetRegistrationRequest;
    };
    readonly answer: DatasetRegistration;
    readonly pages: never;
  };
  /** List datasets by name. */
  readonly listDatasets: {
    readonly request: {
      readonly query?: {
        /** How many, at most. */
        readonly limit?: number | string;
        /** Of the page before: go on where it ended. */
        readonly nextToken?: string;
      };
    };
    readonly answer: DatasetPage;
    readonly pages: "items";
  };
  /** Approve or reject a version that passed its gates. */
  readonly decideModelVersion: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
      readonly body: DecisionRequest;
    };
    readonly answer: ModelVersionAnswer;
    readonly pages: never;
  };
  /** Get a model with its versions and its history. */
  readonly getModel: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
    };
    readonly answer: ModelDetails;
    readonly pages: never;
  };
  /** Get a version. */
  readonly getModelVersion: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
    };
    readonly answer: ModelVersionAnswer;
    readonly pages: never;
  };
  /** Get what serving should load: version, artifact, digest, schemas. */
  readonly getProductionModel: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
    };
    readonly answer: ResolvedModel;
    readonly pages: never;
  };
  /** List registered models. */
  readonly listModels: {
    readonly request: NoInput;
    readonly answer: ModelList;
    readonly pages: never;
  };
  /** Go back to the version that was in production before. */
  readonly rollBackModel: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
      readonly body?: RollbackRequest;
    };
    readonly answer: ModelChange;
    readonly pages: never;
  };
  /** Put an approved version into production. */
  readonly setModelVersionStage: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
      readonly body: StageRequest;
    };
    readonly answer: ModelChange;
    readonly pages: never;
  };
  /** Bind a cause to a job. */
  readonly createRetrainingRule: {
    readonly request: {
      readonly body: RetrainingRuleDefinition;
    };
    readonly answer: RetrainingRuleCreation;
    readonly pages: never;
  };
  /** List rules by name. */
  readonly listRetrainingRules: {
    readonly request: {
      readonly query?: {
        /** How many, at most. */
        readonly limit?: number | string;
        /** Of the page before: go on where it ended. */
        readonly nextToken?: string;
      };
    };
    readonly answer: RetrainingRulePage;
    readonly pages: "items";
  };
  /** End a rule. */
  readonly deleteRetrainingRule: {
    readonly request: {
      readonly params: {
        readonly rule: string;
      };
    };
    readonly answer: RetrainingRuleAnswer;
    readonly pages: never;
  };
  /** Get a rule and what became of it. */
  readonly getRetrainingRule: {
    readonly request: {
      readonly params: {
        readonly rule: string;
      };
    };
    readonly answer: RetrainingRuleDetails;
    readonly pages: never;
  };
  /** Replace what a rule says. */
  readonly replaceRetrainingRule: {
    readonly request: {
      readonly params: {
        readonly rule: string;
      };
      readonly body: RetrainingRuleDefinition;
    };
    readonly answer: RetrainingRuleAnswer;
    readonly pages: never;
  };
  /** Let a rule skip its causes. */
  readonly disableRetrainingRule: {
    readonly request: {
      readonly params: {
        readonly rule: string;
      };
      readonly body?: DisableRequest;
    };
    readonly answer: RetrainingRuleAnswer;
    readonly pages: never;
  };
  /** Let a rule act again, on what happens from now on. */
  readonly enableRetrainingRule: {
    readonly request: {
      readonly params: {
        readonly rule: string;
      };
    };
    readonly answer: RetrainingRuleAnswer;
    readonly pages: never;
  };
  /** List what a rule has heard of and what became of it, newest first. */
  readonly listRetrainingCauses: {
    readonly request: {
      readonly params: {
        readonly rule: string;
      };
      readonly query?: {
        /** How many, at most. */
        readonly limit?: number | string;
        /** Of the page before: go on where it ended. */
        readonly nextToken?: string;
      };
    };
    readonly answer: RetrainingCausePage;
    readonly pages: "items";
  };
  /** Retrain by a rule now, by hand. */
  readonly runRetrainingRule: {
    readonly request: {
      readonly params: {
        readonly rule: string;
      };
      readonly idempotencyKey?: string;
    };
    readonly answer: RetrainingRunAnswer;
    readonly pages: never;
  };
  /** Get URLs to upload the contents that the store lacks. */
  readonly createUploads: {
    readonly request: {
      readonly body: UploadRequest;
    };
    readonly answer: UploadTargets;
    readonly pages: never;
  };
  /** Get a URL to download a content. */
  readonly getContentUrl: {
    readonly request: {
      readonly params: {
        readonly sha256: Sha256;
      };
    };
    readonly answer: ContentUrl;
    readonly pages: never;
  };
  /** Ask whether the API answers. */
  readonly getHealth: {
    readonly request: NoInput;
    readonly answer: Health;
    readonly pages: never;
  };
  /** Get this description. */
  readonly getOpenApiDocument: {
    readonly request: NoInput;
    readonly answer: OpenApiDocument;
    readonly pages: never;
  };
}

/** How an operation is called. */
export interface OperationCall {
  readonly method: string;
  /** Under `/api/v1`, parameters in braces. */
  readonly path: string;
  /** Whether sending it again is safe: always, with an Idempotency-Key only, or never. */
  readonly repeatable: "always" | "with-key" | "never";
  /** The array in the answer that goes on at `nextToken`. */
  readonly pages?: string;
}

export const operations: Readonly<Record<keyof Operations, OperationCall>> = {
  cancelTrainingRun: { method: "POST", path: "/training-runs/{runId}/cancel", repeatable: "always" },
  getTrainingRun: { method: "GET", path: "/training-runs/{runId}", repeatable: "always" },
  getTrainingRunLogs: { method: "GET", path: "/training-runs/{runId}/logs", repeatable: "always", pages: "lines" },
  getTrainingRunMetrics: { method: "GET", path: "/training-runs/{runId}/metrics", repeatable: "always" },
  listCheckpoints: { method: "GET", path: "/training-runs/{runId}/checkpoints", repeatable: "always" },
  listTrainingRuns: { method: "GET", path: "/training-runs", repeatable: "always", pages: "runs" },
  submitTrainingRun: { method: "POST", path: "/training-runs", repeatable: "with-key" },
  restoreTrainingRun: {
    method: "POST",
    path: "/training-runs/{runId}/checkpoints/{epoch}/restore",
    repeatable: "with-key",
  },
  deprecateDatasetVersion: {
    method: "POST",
    path: "/datasets/{name}/versions/{version}/deprecate",
    repeatable: "always",
  },
  getDataset: { method: "GET", path: "/datasets/{name}", repeatable: "always" },
  getDatasetVersion: { method: "GET", path: "/datasets/{name}/versions/{version}", repeatable: "always" },
  listDatasetVersions: { method: "GET", path: "/datasets/{name}/versions", repeatable: "always", pages: "items" },
  registerDatasetVersion: { method: "POST", path: "/datasets/{name}/versions", repeatable: "always" },
  listDatasets: { method: "GET", path: "/datasets", repeatable: "always", pages: "items" },
  decideModelVersion: { method: "POST", path: "/models/{name}/versions/{version}/approvals", repeatable: "always" },
  getModel: { method: "GET", path: "/models/{name}", repeatable: "always" },
  getModelVersion: { method: "GET", path: "/models/{name}/versions/{version}", repeatable: "always" },
  getProductionModel: { method: "GET", path: "/models/{name}/production", repeatable: "always" },
  listModels: { method: "GET", path: "/models", repeatable: "always" },
  rollBackModel: { method: "POST", path: "/models/{name}/rollback", repeatable: "never" },
  setModelVersionStage: { method: "PUT", path: "/models/{name}/versions/{version}/stage", repeatable: "always" },
  createRetrainingRule: { method: "POST", path: "/retraining-rules", repeatable: "always" },
  listRetrainingRules: { method: "GET", path: "/retraining-rules", repeatable: "always", pages: "items" },
  deleteRetrainingRule: { method: "DELETE", path: "/retraining-rules/{rule}", repeatable: "always" },
  getRetrainingRule: { method: "GET", path: "/retraining-rules/{rule}", repeatable: "always" },
  replaceRetrainingRule: { method: "PUT", path: "/retraining-rules/{rule}", repeatable: "always" },
  disableRetrainingRule: { method: "POST", path: "/retraining-rules/{rule}/disable", repeatable: "always" },
  enableRetrainingRule: { method: "POST", path: "/retraining-rules/{rule}/enable", repeatable: "always" },
  listRetrainingCauses: {
    method: "GET",
    path: "/retraining-rules/{rule}/causes",
    repeatable: "always",
    pages: "items",
  },
  runRetrainingRule: { method: "POST", path: "/retraining-rules/{rule}/runs", repeatable: "with-key" },
  createUploads: { method: "POST", path: "/uploads", repeatable: "always" },
  getContentUrl: { method: "GET", path: "/contents/{sha256}", repeatable: "always" },
  getHealth: { method: "GET", path: "/health", repeatable: "always" },
  getOpenApiDocument: { method: "GET", path: "/openapi.json", repeatable: "always" },
};
