// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type { NoInput, OperationCall } from "../../operation";
import type {
  AliasRequest,
  CheckAnswerRequest,
  CheckKey,
  CreateModelRequest,
  DecisionRequest,
  DescriptionRequest,
  ExportAnswer,
  ExportList,
  ExportRequest,
  LineageAnswer,
  ModelAnswer,
  ModelChange,
  ModelDetails,
  ModelHistoryPage,
  ModelList,
  ModelPolicyAnswer,
  ModelVersionAnswer,
  PolicyRequest,
  PolicySetAnswer,
  ReasonRequest,
  RegisterModelRequest,
  ResolvedModel,
  RollbackRequest,
  SemverRequest,
  StageRequest,
  TagRequest,
  VersionReport,
} from "../schemas";

/** What each operation takes and answers. */
export interface ModelsOperations {
  /** Show what a version was made of: run, code, features, data, raw files and their rows. */
  readonly getModelVersionLineage: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
    };
    readonly answer: LineageAnswer;
    readonly pages: never;
  };
  /** Make a model that has no versions yet. */
  readonly createModel: {
    readonly request: {
      readonly body: CreateModelRequest;
      readonly idempotencyKey?: string;
    };
    readonly answer: ModelAnswer;
    readonly pages: never;
  };
  /** List registered models. */
  readonly listModels: {
    readonly request: NoInput;
    readonly answer: ModelList;
    readonly pages: never;
  };
  /** Hide a model. */
  readonly deleteModel: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
      readonly query?: {
        /** Why, for the record. */
        readonly reason?: string;
      };
    };
    readonly answer: ModelAnswer;
    readonly pages: never;
  };
  /** Get a model with its versions and its newest history. */
  readonly getModel: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
    };
    readonly answer: ModelDetails;
    readonly pages: never;
  };
  /** Take an alias away. */
  readonly deleteModelAlias: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly alias: string;
      };
      readonly query?: {
        /** Why, for the record. */
        readonly reason?: string;
      };
    };
    readonly answer: ModelAnswer;
    readonly pages: never;
  };
  /** Get the version that an alias names. */
  readonly getModelAlias: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly alias: string;
      };
    };
    readonly answer: ModelVersionAnswer;
    readonly pages: never;
  };
  /** Let an alias name a version. */
  readonly setModelAlias: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly alias: string;
      };
      readonly body: AliasRequest;
    };
    readonly answer: ModelAnswer;
    readonly pages: never;
  };
  /** Describe a model. */
  readonly describeModel: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
      readonly body: DescriptionRequest;
    };
    readonly answer: ModelAnswer;
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
  /** List who did what to a model, when and why, newest first. */
  readonly listModelHistory: {
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
    readonly answer: ModelHistoryPage;
    readonly pages: "items";
  };
  /** Show a deleted model again. */
  readonly restoreModel: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
      readonly body?: ReasonRequest;
    };
    readonly answer: ModelAnswer;
    readonly pages: never;
  };
  /** Set a tag of a model. */
  readonly tagModel: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
      readonly body: TagRequest;
    };
    readonly answer: ModelAnswer;
    readonly pages: never;
  };
  /** Take a tag off a model. */
  readonly untagModel: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
      readonly query: {
        readonly key: string;
        /** Why, for the record. */
        readonly reason?: string;
      };
    };
    readonly answer: ModelAnswer;
    readonly pages: never;
  };
  /** Approve or reject a version that passed its gates. */
  readonly decideModelVersion: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
      readonly body: DecisionRequest;
      readonly idempotencyKey?: string;
    };
    readonly answer: ModelVersionAnswer;
    readonly pages: never;
  };
  /** Hide a version. */
  readonly deleteModelVersion: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
      readonly query?: {
        /** Why, for the record. */
        readonly reason?: string;
      };
    };
    readonly answer: ModelAnswer;
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
  /** Describe a version. */
  readonly describeModelVersion: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
      readonly body: DescriptionRequest;
    };
    readonly answer: ModelVersionAnswer;
    readonly pages: never;
  };
  /** Register a version that was made elsewhere. */
  readonly registerModelVersion: {
    readonly request: {
      readonly body: RegisterModelRequest;
      readonly idempotencyKey?: string;
    };
    readonly answer: ModelVersionAnswer;
    readonly pages: never;
  };
  /** Show a deleted version again. */
  readonly restoreModelVersion: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
      readonly body?: ReasonRequest;
    };
    readonly answer: ModelVersionAnswer;
    readonly pages: never;
  };
  /** Go back to the version that was in production before. */
  readonly rollBackModel: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
      readonly body?: RollbackRequest;
      readonly idempotencyKey?: string;
    };
    readonly answer: ModelChange;
    readonly pages: never;
  };
  /** Give a version its semantic version. */
  readonly setModelVersionSemver: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
      readonly body: SemverRequest;
    };
    readonly answer: ModelVersionAnswer;
    readonly pages: never;
  };
  /** Put a version into a stage. */
  readonly setModelVersionStage: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
      readonly body: StageRequest;
      readonly idempotencyKey?: string;
    };
    readonly answer: ModelChange;
    readonly pages: never;
  };
  /** Set a tag of a version. */
  readonly tagModelVersion: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
      readonly body: TagRequest;
    };
    readonly answer: ModelVersionAnswer;
    readonly pages: never;
  };
  /** Take a tag off a version. */
  readonly untagModelVersion: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
      readonly query: {
        readonly key: string;
        /** Why, for the record. */
        readonly reason?: string;
      };
    };
    readonly answer: ModelVersionAnswer;
    readonly pages: never;
  };
  /** Get the gates and approvals that a model declares, and those before. */
  readonly getModelPolicy: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
    };
    readonly answer: ModelPolicyAnswer;
    readonly pages: never;
  };
  /** Declare what a model's versions must show and who must agree before one serves. */
  readonly setModelPolicy: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
      readonly body?: PolicyRequest;
    };
    readonly answer: PolicySetAnswer;
    readonly pages: never;
  };
  /** Hold a version against its model's gates and the champion of now. */
  readonly judgeModelVersion: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
      readonly body?: ReasonRequest;
      readonly idempotencyKey?: string;
    };
    readonly answer: ModelVersionAnswer;
    readonly pages: never;
  };
  /** Say how a check of one's own went. */
  readonly answerModelCheck: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
        readonly check: string;
      };
      readonly body: CheckAnswerRequest;
    };
    readonly answer: ModelVersionAnswer;
    readonly pages: never;
  };
  /** Get the key that signs the questions to a check's hook. */
  readonly getModelCheckKey: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly check: string;
      };
    };
    readonly answer: CheckKey;
    readonly pages: never;
  };
  /** Get all that the verdict on a version rests on. */
  readonly getModelVersionReport: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
      readonly query?: {
        readonly format?: "json" | "markdown" | "html";
      };
    };
    readonly answer: VersionReport;
    readonly pages: never;
  };
  /** Export a version as ONNX, TensorFlow.js, safetensors or an MLflow model. */
  readonly createExport: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
      readonly body: ExportRequest;
    };
    readonly answer: ExportAnswer;
    readonly pages: never;
  };
  /** List the exports of a version that were made. */
  readonly listExports: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
    };
    readonly answer: ExportList;
    readonly pages: never;
  };
}

export const modelsOperations: Readonly<Record<keyof ModelsOperations, OperationCall>> = {
  getModelVersionLineage: { method: "GET", path: "/models/{name}/versions/{version}/lineage", repeatable: "always" },
  createModel: { method: "POST", path: "/models", repeatable: "with-key" },
  listModels: { method: "GET", path: "/models", repeatable: "always" },
  deleteModel: { method: "DELETE", path: "/models/{name}", repeatable: "always" },
  getModel: { method: "GET", path: "/models/{name}", repeatable: "always" },
  deleteModelAlias: { method: "DELETE", path: "/models/{name}/aliases/{alias}", repeatable: "always" },
  getModelAlias: { method: "GET", path: "/models/{name}/aliases/{alias}", repeatable: "always" },
  setModelAlias: { method: "PUT", path: "/models/{name}/aliases/{alias}", repeatable: "always" },
  describeModel: { method: "PUT", path: "/models/{name}/description", repeatable: "always" },
  getProductionModel: { method: "GET", path: "/models/{name}/production", repeatable: "always" },
  listModelHistory: { method: "GET", path: "/models/{name}/history", repeatable: "always", pages: "items" },
  restoreModel: { method: "POST", path: "/models/{name}/restore", repeatable: "always" },
  tagModel: { method: "PUT", path: "/models/{name}/tags", repeatable: "always" },
  untagModel: { method: "DELETE", path: "/models/{name}/tags", repeatable: "always" },
  decideModelVersion: { method: "POST", path: "/models/{name}/versions/{version}/approvals", repeatable: "with-key" },
  deleteModelVersion: { method: "DELETE", path: "/models/{name}/versions/{version}", repeatable: "always" },
  getModelVersion: { method: "GET", path: "/models/{name}/versions/{version}", repeatable: "always" },
  describeModelVersion: { method: "PUT", path: "/models/{name}/versions/{version}/description", repeatable: "always" },
  registerModelVersion: { method: "POST", path: "/models/register", repeatable: "with-key" },
  restoreModelVersion: { method: "POST", path: "/models/{name}/versions/{version}/restore", repeatable: "always" },
  rollBackModel: { method: "POST", path: "/models/{name}/rollback", repeatable: "with-key" },
  setModelVersionSemver: { method: "PUT", path: "/models/{name}/versions/{version}/semver", repeatable: "always" },
  setModelVersionStage: { method: "PUT", path: "/models/{name}/versions/{version}/stage", repeatable: "with-key" },
  tagModelVersion: { method: "PUT", path: "/models/{name}/versions/{version}/tags", repeatable: "always" },
  untagModelVersion: { method: "DELETE", path: "/models/{name}/versions/{version}/tags", repeatable: "always" },
  getModelPolicy: { method: "GET", path: "/models/{name}/policy", repeatable: "always" },
  setModelPolicy: { method: "PUT", path: "/models/{name}/policy", repeatable: "always" },
  judgeModelVersion: { method: "POST", path: "/models/{name}/versions/{version}/judge", repeatable: "with-key" },
  answerModelCheck: { method: "POST", path: "/models/{name}/versions/{version}/checks/{check}", repeatable: "always" },
  getModelCheckKey: { method: "GET", path: "/models/{name}/checks/{check}/key", repeatable: "always" },
  getModelVersionReport: { method: "GET", path: "/models/{name}/versions/{version}/report", repeatable: "always" },
  createExport: { method: "POST", path: "/models/{name}/versions/{version}/exports", repeatable: "always" },
  listExports: { method: "GET", path: "/models/{name}/versions/{version}/exports", repeatable: "always" },
};
