// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type { OperationCall } from "../../operation";
import type {
  CanaryDecisions,
  OutcomeAnswer,
  OutcomeReport,
  RouteRequest,
  Routes,
  ShadowReport,
  ShadowStored,
  ShadowSummary,
  TrafficRequest,
  TrafficState,
} from "../schemas";

/** What each operation takes and answers. */
export interface ServingOperations {
  /** Carry out what the test of the canaries says. */
  readonly decideTraffic: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
    };
    readonly answer: CanaryDecisions;
    readonly pages: never;
  };
  /** Compare a shadow with what served. */
  readonly getShadow: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
    };
    readonly answer: ShadowSummary;
    readonly pages: never;
  };
  /** Log what a shadow said beside what was served. */
  readonly logShadow: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
      readonly body: ShadowReport;
    };
    readonly answer: ShadowStored;
    readonly pages: never;
  };
  /** Get who answers whom, what was reported, and what the test says. */
  readonly getTraffic: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
    };
    readonly answer: TrafficState;
    readonly pages: never;
  };
  /** Give canaries a part of the units, name shadows, set a test. */
  readonly setTraffic: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
      readonly body?: TrafficRequest;
    };
    readonly answer: TrafficState;
    readonly pages: never;
  };
  /** Report what became of units. */
  readonly reportOutcomes: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
      readonly body: OutcomeReport;
    };
    readonly answer: OutcomeAnswer;
    readonly pages: never;
  };
  /** Find out which version answers a unit. */
  readonly routeUnits: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
      readonly body: RouteRequest;
    };
    readonly answer: Routes;
    readonly pages: never;
  };
}

export const servingOperations: Readonly<Record<keyof ServingOperations, OperationCall>> = {
  decideTraffic: { method: "POST", path: "/models/{name}/traffic/decision", repeatable: "always" },
  getShadow: { method: "GET", path: "/models/{name}/versions/{version}/shadow", repeatable: "always" },
  logShadow: { method: "POST", path: "/models/{name}/versions/{version}/shadow", repeatable: "always" },
  getTraffic: { method: "GET", path: "/models/{name}/traffic", repeatable: "always" },
  setTraffic: { method: "PUT", path: "/models/{name}/traffic", repeatable: "always" },
  reportOutcomes: { method: "POST", path: "/models/{name}/outcomes", repeatable: "always" },
  routeUnits: { method: "POST", path: "/models/{name}/route", repeatable: "always" },
};
