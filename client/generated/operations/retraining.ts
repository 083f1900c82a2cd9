// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type { OperationCall } from "../../operation";
import type {
  DisableRequest,
  RetrainingCausePage,
  RetrainingRuleAnswer,
  RetrainingRuleCreation,
  RetrainingRuleDefinition,
  RetrainingRuleDetails,
  RetrainingRulePage,
  RetrainingRunAnswer,
} from "../schemas";

/** What each operation takes and answers. */
export interface RetrainingOperations {
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
}

export const retrainingOperations: Readonly<Record<keyof RetrainingOperations, OperationCall>> = {
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
};
