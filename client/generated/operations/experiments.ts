// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type { OperationCall } from "../../operation";
import type {
  ExperimentAnswer,
  ExperimentChange,
  ExperimentPage,
  ExperimentRequest,
  RunRecordPage,
  RunView,
} from "../schemas";

/** What each operation takes and answers. */
export interface ExperimentsOperations {
  /** Rename an experiment, change its tags, delete or restore it. */
  readonly changeExperiment: {
    readonly request: {
      readonly params: {
        readonly experimentId: string;
      };
      readonly body?: ExperimentChange;
    };
    readonly answer: ExperimentAnswer;
    readonly pages: never;
  };
  /** Get an experiment. */
  readonly getExperiment: {
    readonly request: {
      readonly params: {
        readonly experimentId: string;
      };
    };
    readonly answer: ExperimentAnswer;
    readonly pages: never;
  };
  /** Create an experiment. */
  readonly createExperiment: {
    readonly request: {
      readonly body: ExperimentRequest;
      readonly idempotencyKey?: string;
    };
    readonly answer: ExperimentAnswer;
    readonly pages: never;
  };
  /** List experiments in the order in which they were made, or find one by its name. */
  readonly listExperiments: {
    readonly request: {
      readonly query?: {
        /** How many, at most. */
        readonly limit?: number | string;
        /** Of the page before: go on where it ended. */
        readonly nextToken?: string;
        /** Of this name alone. */
        readonly name?: string;
        /** Which of them: those not deleted, the deleted, or both. */
        readonly view?: "active" | "deleted" | "all";
      };
    };
    readonly answer: ExperimentPage;
    readonly pages: "experiments";
  };
  /** Get a run of an experiment. */
  readonly getExperimentRun: {
    readonly request: {
      readonly params: {
        readonly experimentId: string;
        readonly runId: string;
      };
    };
    readonly answer: RunView;
    readonly pages: never;
  };
  /** List an experiment's runs, newest start first. */
  readonly listExperimentRuns: {
    readonly request: {
      readonly params: {
        readonly experimentId: string;
      };
      readonly query?: {
        /** How many, at most. */
        readonly limit?: number | string;
        /** Of the page before: go on where it ended. */
        readonly nextToken?: string;
        /** Which of them: those not deleted, the deleted, or both. */
        readonly view?: "active" | "deleted" | "all";
      };
    };
    readonly answer: RunRecordPage;
    readonly pages: "runs";
  };
}

export const experimentsOperations: Readonly<Record<keyof ExperimentsOperations, OperationCall>> = {
  changeExperiment: { method: "PATCH", path: "/experiments/{experimentId}", repeatable: "always" },
  getExperiment: { method: "GET", path: "/experiments/{experimentId}", repeatable: "always" },
  createExperiment: { method: "POST", path: "/experiments", repeatable: "with-key" },
  listExperiments: { method: "GET", path: "/experiments", repeatable: "always", pages: "experiments" },
  getExperimentRun: { method: "GET", path: "/experiments/{experimentId}/runs/{runId}", repeatable: "always" },
  listExperimentRuns: { method: "GET", path: "/experiments/{experimentId}/runs", repeatable: "always", pages: "runs" },
};
