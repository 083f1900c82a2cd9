// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type { NoInput, OperationCall } from "../../operation";
import type {
  DecisionRequest,
  ExportAnswer,
  ExportList,
  ExportRequest,
  ModelChange,
  ModelDetails,
  ModelList,
  ModelVersionAnswer,
  ResolvedModel,
  RollbackRequest,
  StageRequest,
} from "../schemas";

/** What each operation takes and answers. */
export interface ModelsOperations {
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
      readonly idempotencyKey?: string;
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
      readonly idempotencyKey?: string;
    };
    readonly answer: ModelChange;
    readonly pages: never;
  };
  /** Export a version as ONNX, TensorFlow.js or safetensors. */
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
  decideModelVersion: { method: "POST", path: "/models/{name}/versions/{version}/approvals", repeatable: "always" },
  getModel: { method: "GET", path: "/models/{name}", repeatable: "always" },
  getModelVersion: { method: "GET", path: "/models/{name}/versions/{version}", repeatable: "always" },
  getProductionModel: { method: "GET", path: "/models/{name}/production", repeatable: "always" },
  listModels: { method: "GET", path: "/models", repeatable: "always" },
  rollBackModel: { method: "POST", path: "/models/{name}/rollback", repeatable: "with-key" },
  setModelVersionStage: { method: "PUT", path: "/models/{name}/versions/{version}/stage", repeatable: "with-key" },
  createExport: { method: "POST", path: "/models/{name}/versions/{version}/exports", repeatable: "always" },
  listExports: { method: "GET", path: "/models/{name}/versions/{version}/exports", repeatable: "always" },
};
