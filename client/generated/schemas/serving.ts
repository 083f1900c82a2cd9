// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type { Traffic } from "./shared";

/** What an arm's units have reported in this epoch. */
export interface ArmState {
  readonly version: number;
  readonly role: "champion" | "canary";
  readonly units: number;
  readonly sum: number;
  readonly sumOfSquares: number;
  readonly verdict?: SequentialVerdict;
}

export interface Assignment {
  /** Whom to be consistent with: a user, a session, a device. */
  readonly unit: string;
  readonly version: number;
  readonly role: "champion" | "canary";
}

export interface CanaryDecision {
  readonly version: number;
  readonly verdict: SequentialVerdict;
  readonly done: "promoted" | "rolled-back" | "none" | "refused";
  readonly refusal?: {
    readonly code: string;
    readonly message: string;
  };
}

export interface CanaryDecisions {
  readonly decisions: readonly CanaryDecision[];
}

/** A class, a number, or the probabilities of classes. */
export type ModelOutput = string | number | boolean | readonly number[];

export interface OutcomeAnswer {
  readonly counted: number;
  readonly repeated: number;
  /** Of another epoch than that of now. */
  readonly stale: number;
  readonly decisions: readonly CanaryDecision[];
}

export interface OutcomeReport {
  /** Of the route that the unit was given. */
  readonly epoch: number;
  readonly outcomes: readonly {
    /** Whom to be consistent with: a user, a session, a device. */
    readonly unit: string;
    readonly value: number;
  }[];
}

export interface RouteRequest {
  readonly units: readonly string[];
}

export interface Routes {
  readonly model: string;
  readonly epoch: number;
  readonly assignments: readonly Assignment[];
  /** To be asked too, without using what they say. */
  readonly shadows: readonly number[];
}

/** A test of a canary against the champion that may be looked at at any time. */
export interface SequentialPlanRequest {
  /** What is reported, for the records: `conversion`. */
  readonly metric: string;
  /** `binary`: outcomes are 0 or 1. */
  readonly kind?: "binary" | "mean";
  readonly goal?: "increase" | "decrease";
  /** How much worse than the champion a canary may be and still be taken; absolute. */
  readonly margin?: number;
  /** Probability, over all looks together, that a decision is wrong. */
  readonly alpha?: number;
  /** The size of difference that is looked for, absolute: decides how fast, never how wrongly. */
  readonly effect: number;
  /** Of each arm, before anything is decided. */
  readonly minUnits?: number;
  /** Of the canary, after which it goes back without proof. */
  readonly maxUnits?: number;
  /** `automatic`: what the test decides is carried out when outcomes come in, promotion as far as gates and approvals allow it. */
  readonly act?: "advise" | "automatic";
}

export interface SequentialVerdict {
  readonly decision: "promote" | "keep-on" | "roll-back";
  readonly canary: number;
  readonly champion: number;
  readonly units: {
    readonly canary: number;
    readonly champion: number;
  };
  /** In the good direction, with its confidence sequence. */
  readonly gain?: {
    readonly estimate: number;
    readonly lower: number;
    readonly upper: number;
  };
  readonly evidence: string;
}

export interface ShadowReport {
  readonly observations: readonly {
    /** Whom to be consistent with: a user, a session, a device. */
    readonly unit: string;
    readonly served: ModelOutput;
    readonly shadow: ModelOutput;
  }[];
}

export interface ShadowStored {
  readonly stored: boolean;
}

export interface ShadowSummary {
  readonly version: number;
  readonly observations: number;
  /** Part in which both name the same class. */
  readonly agreement?: number;
  readonly meanAbsoluteDifference?: number;
  readonly examples: readonly {
    /** Whom to be consistent with: a user, a session, a device. */
    readonly unit: string;
    readonly served: ModelOutput;
    readonly shadow: ModelOutput;
  }[];
  readonly truncated: boolean;
}

export interface TrafficRequest {
  readonly canaries?: readonly {
    readonly version: number;
    /** Part of the units, to the ten-thousandth. */
    readonly weight: number;
  }[];
  /** Versions that are asked too, and whose answers nobody gets. */
  readonly shadows?: readonly number[];
  readonly test?: SequentialPlanRequest;
  readonly reason?: string;
}

export interface TrafficState {
  readonly model: string;
  readonly champion?: number;
  readonly traffic: Traffic;
  /** The champion first. */
  readonly arms: readonly ArmState[];
}
