// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type { OperationCall } from "../../operation";
import type {
  ArtifactList,
  ArtifactsAnswer,
  ArtifactsRequest,
  ArtifactUrl,
  CompareRequest,
  Comparison,
  LoggedMetrics,
  LogMetricsAnswer,
  LogMetricsRequest,
  LogRunRequest,
  MetricHistoryPage,
  ParamsRequest,
  RunChange,
  RunRecordAnswer,
  RunSearchPage,
  RunSearchRequest,
  RunView,
} from "../schemas";

/** What each operation takes and answers. */
export interface RunsOperations {
  /** Change a run's name, notes, tags, or end it. */
  readonly changeRun: {
    readonly request: {
      readonly params: {
        readonly runId: string;
      };
      readonly body?: RunChange;
    };
    readonly answer: RunRecordAnswer;
    readonly pages: never;
  };
  /** Mark a run as deleted. */
  readonly deleteRun: {
    readonly request: {
      readonly params: {
        readonly runId: string;
      };
    };
    readonly answer: RunRecordAnswer;
    readonly pages: never;
  };
  /** Get a run's record with its metrics' summaries, children and attempts. */
  readonly getRun: {
    readonly request: {
      readonly params: {
        readonly runId: string;
      };
    };
    readonly answer: RunView;
    readonly pages: never;
  };
  /** Add params to a run; each is written once. */
  readonly logParams: {
    readonly request: {
      readonly params: {
        readonly runId: string;
      };
      readonly body: ParamsRequest;
    };
    readonly answer: RunRecordAnswer;
    readonly pages: never;
  };
  /** Log a run that was made elsewhere, with all that is known of it. */
  readonly logRun: {
    readonly request: {
      readonly body?: LogRunRequest;
      readonly idempotencyKey?: string;
    };
    readonly answer: RunRecordAnswer;
    readonly pages: never;
  };
  /** Take the mark off a deleted run. */
  readonly restoreRun: {
    readonly request: {
      readonly params: {
        readonly runId: string;
      };
    };
    readonly answer: RunRecordAnswer;
    readonly pages: never;
  };
  /** Read every point of a metric, page by page. */
  readonly getRunMetricHistory: {
    readonly request: {
      readonly params: {
        readonly runId: string;
      };
      readonly query: {
        /** A metric's name. */
        readonly metric: string;
        readonly limit?: number | string;
        /** Of the page before: go on where it ended. */
        readonly nextToken?: string;
      };
    };
    readonly answer: MetricHistoryPage;
    readonly pages: "points";
  };
  /** Get a run's metrics: summaries of all, or a view of one. */
  readonly getRunMetrics: {
    readonly request: {
      readonly params: {
        readonly runId: string;
      };
      readonly query?: {
        /** A metric's name. */
        readonly metric?: string;
        /** At most this many: first and last, and the min and max of each stretch at their own steps. */
        readonly points?: number | string;
        /** This step and later ones. */
        readonly fromStep?: number | string;
        /** This step and earlier ones. */
        readonly toStep?: number | string;
      };
    };
    readonly answer: LoggedMetrics;
    readonly pages: never;
  };
  /** Log points of metrics to a run. */
  readonly logMetrics: {
    readonly request: {
      readonly params: {
        readonly runId: string;
      };
      readonly body: LogMetricsRequest;
    };
    readonly answer: LogMetricsAnswer;
    readonly pages: never;
  };
  /** Compare runs: params that differ, metrics against a baseline, curves on one axis. */
  readonly compareRuns: {
    readonly request: {
      readonly body: CompareRequest;
    };
    readonly answer: Comparison;
    readonly pages: never;
  };
  /** Search runs by metrics, params, tags, attributes and datasets. */
  readonly searchRuns: {
    readonly request: {
      readonly body?: RunSearchRequest;
    };
    readonly answer: RunSearchPage;
    readonly pages: never;
  };
  /** Get a URL to download an artifact. */
  readonly getRunArtifact: {
    readonly request: {
      readonly params: {
        readonly runId: string;
      };
      readonly query: {
        /** Relative, of normal form, at most 1,000 bytes: `model/weights.safetensors`. */
        readonly path: string;
      };
    };
    readonly answer: ArtifactUrl;
    readonly pages: never;
  };
  /** List what lies directly under a path of a run's artifacts. */
  readonly listRunArtifacts: {
    readonly request: {
      readonly params: {
        readonly runId: string;
      };
      readonly query?: {
        /** A directory; the top where it is left out. */
        readonly path?: string;
      };
    };
    readonly answer: ArtifactList;
    readonly pages: never;
  };
  /** Name uploaded contents as a run's artifacts. */
  readonly putRunArtifacts: {
    readonly request: {
      readonly params: {
        readonly runId: string;
      };
      readonly body: ArtifactsRequest;
    };
    readonly answer: ArtifactsAnswer;
    readonly pages: never;
  };
}

export const runsOperations: Readonly<Record<keyof RunsOperations, OperationCall>> = {
  changeRun: { method: "PATCH", path: "/runs/{runId}", repeatable: "always" },
  deleteRun: { method: "DELETE", path: "/runs/{runId}", repeatable: "always" },
  getRun: { method: "GET", path: "/runs/{runId}", repeatable: "always" },
  logParams: { method: "POST", path: "/runs/{runId}/params", repeatable: "always" },
  logRun: { method: "POST", path: "/runs", repeatable: "with-key" },
  restoreRun: { method: "POST", path: "/runs/{runId}/restore", repeatable: "always" },
  getRunMetricHistory: { method: "GET", path: "/runs/{runId}/metrics/history", repeatable: "always", pages: "points" },
  getRunMetrics: { method: "GET", path: "/runs/{runId}/metrics", repeatable: "always" },
  logMetrics: { method: "POST", path: "/runs/{runId}/metrics", repeatable: "never" },
  compareRuns: { method: "POST", path: "/runs/compare", repeatable: "always" },
  searchRuns: { method: "POST", path: "/runs/search", repeatable: "always" },
  getRunArtifact: { method: "GET", path: "/runs/{runId}/artifacts/content", repeatable: "always" },
  listRunArtifacts: { method: "GET", path: "/runs/{runId}/artifacts", repeatable: "always" },
  putRunArtifacts: { method: "POST", path: "/runs/{runId}/artifacts", repeatable: "always" },
};
