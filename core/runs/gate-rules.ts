/**
 * What a model's versions must show before one of them serves, declared once for the model. A job's own `evaluation` values add to it: of two limits
 * the stricter holds.
 */
export interface PolicyRules {
  /** Least value of a metric of the whole test split, or most where less is better (`logLoss`, `rmse`, …). */
  readonly thresholds: Readonly<Record<string, number>>;
  /** Against the champion on the same rows; left out: `defaultNoRegression`. `waived`: a regression refuses nobody, and each verdict says so. */
  readonly noRegression?: NoRegressionRule | "waived";
  readonly slices: readonly SliceRule[];
  readonly fairness: readonly FairnessRule[];
  /** 99th percentile of the time that one row's prediction takes. */
  readonly latency?: { readonly p99Ms: number };
  /** Of weights and topology together. */
  readonly size?: { readonly bytes: number };
  readonly checks: readonly ExternalCheck[];
}

export interface NoRegressionRule {
  /** How much worse the primary metric may be, absolute. */
  readonly tolerance: number;
  /** `credible`: refused where a regression is shown. `excluded`: refused where it is not excluded. */
  readonly rule: "credible" | "excluded";
  /** What becomes of a candidate whose champion cannot be given the rows. */
  readonly incompatible: "refuse" | "pass";
}

/** Of the slices that a column's values cut; slices of fewer rows are shown and not judged. */
export interface SliceRule {
  readonly column: string;
  readonly metric: string;
  readonly minRows: number;
  /** Limit of the worst slice: least, or most where less is better. */
  readonly worst?: number;
  /** The most that the best slice may be ahead of the worst. */
  readonly gap?: number;
  /** What the interval must show; `credible` where left out. */
  readonly rule?: "credible" | "excluded";
}

/** Of a column's groups; differences between the largest and the smallest rate, 0 to 1. */
export interface FairnessRule {
  readonly column: string;
  readonly minRows: number;
  /** The class that counts as positive; where left out the second of two, and each in turn of more. */
  readonly positive?: string | number | boolean;
  /** Of the rate of positive predictions. */
  readonly demographicParity?: number;
  /** Of true and of false positive rates, the larger. */
  readonly equalizedOdds?: number;
  readonly rule?: "credible" | "excluded";
}

/** A user's own check: passes with exit code 0, or with status 200 and `{"passed": true}`. */
export type ExternalCheck =
  | {
      readonly name: string;
      readonly kind: "command";
      /** Program and arguments. */
      readonly command: readonly string[];
      readonly timeoutSeconds: number;
    }
  | {
      readonly name: string;
      readonly kind: "http";
      readonly url: string;
      readonly timeoutSeconds: number;
      /** Which of the check's keys signs: counted up, the key changes. */
      readonly keyGeneration?: number;
    };

/**
 * The rule of a model whose policy does not state one: a version that replaces the champion must not be shown to be worse.
 * A job may be stricter, not milder.
 */
export const defaultNoRegression: NoRegressionRule = { tolerance: 0, rule: "credible", incompatible: "refuse" };
