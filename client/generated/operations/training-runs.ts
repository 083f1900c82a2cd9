// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type { OperationCall } from "../../operation";
import type {
  CheckpointList,
  LogPage,
  ReproductionAnswer,
  RestoreRequest,
  RunAnswer,
  RunDetails,
  RunMetrics,
  RunPage,
  SubmitRequest,
} from "../schemas";

/** What each operation takes and answers. */
export interface TrainingRunsOperations {
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
        /** At most this many: first and last, and the min and max of each stretch at their own steps. */
        readonly points?: number | string;
        /** This step and later ones. */
        readonly fromStep?: number | string;
        /** This step and earlier ones. */
        readonly toStep?: number | string;
      };
    };
    readonly answer: RunMetrics;
    readonly pages: never;
  };
  /** List a run's checkpoints, oldest first. */
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
        /** Name or id of an experiment. */
        readonly experiment?: string;
        /** `awaiting-approval` is a run that waits for an approval, a check or a canary's test; such a run is not `running` here. */
        readonly status?: "queued" | "running" | "completed" | "failed" | "killed" | "awaiting-approval";
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
  /** Hold a run's weights against those of the run that it reproduces, or of any other. */
  readonly getReproduction: {
    readonly request: {
      readonly params: {
        readonly runId: string;
      };
      readonly query?: {
        /** The other run; by default the one that this run reproduces. */
        readonly of?: string;
      };
    };
    readonly answer: ReproductionAnswer;
    readonly pages: never;
  };
  /** Run a run again from its record. */
  readonly reproduceTrainingRun: {
    readonly request: {
      readonly params: {
        readonly runId: string;
      };
      readonly idempotencyKey?: string;
    };
    readonly answer: RunAnswer;
    readonly pages: never;
  };
}

export const trainingRunsOperations: Readonly<Record<keyof TrainingRunsOperations, OperationCall>> = {
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
  getReproduction: { method: "GET", path: "/training-runs/{runId}/reproduction", repeatable: "always" },
  reproduceTrainingRun: { method: "POST", path: "/training-runs/{runId}/reproduce", repeatable: "with-key" },
};
