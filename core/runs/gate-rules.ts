/**
 * Requirements for a model's versions before they serve, declared once for the model. A job's own `evaluation` values
 * are added; the stricter of two limits applies.
 */
export interface PolicyRules {
  /** Minimum of a metric of the whole test split, or maximum if less is better (`logLoss`, `rmse`, …). */
  readonly thresholds: Readonly<Record<string, number>>;
  /**
   * Comparison with the champion on the same rows. Default: `defaultNoRegression`. `waived`: a regression refuses
   * nobody, and each verdict says so.
   */
  readonly noRegression?: NoRegressionRule | "waived";
  readonly slices: readonly SliceRule[];
  readonly fairness: readonly FairnessRule[];
  /** 99th percentile of the time for one row's prediction. */
  readonly latency?: { readonly p99Ms: number };
  /** Size of weights and topology together. */
  readonly size?: { readonly bytes: number };
  readonly checks: readonly ExternalCheck[];
}

export interface NoRegressionRule {
  /** Permitted loss of the primary metric, absolute. */
  readonly tolerance: number;
  /** `credible`: refused if a regression is shown. `excluded`: refused unless a regression is excluded. */
  readonly rule: "credible" | "excluded";
  /** The result for a candidate whose champion cannot read the rows. */
  readonly incompatible: "refuse" | "pass";
}

/** Rule for the slices of a column. Slices of fewer rows are shown and not judged. */
export interface SliceRule {
  readonly column: string;
  readonly metric: string;
  readonly minRows: number;
  /** Limit of the worst slice: minimum, or maximum if less is better. */
  readonly worst?: number;
  /** Maximum difference between the best and the worst slice. */
  readonly gap?: number;
  /** The condition on the interval; default `credible`. */
  readonly rule?: "credible" | "excluded";
}

/** Rule for a column's groups; differences between the largest and the smallest rate, 0 to 1. */
export interface FairnessRule {
  readonly column: string;
  readonly minRows: number;
  /** The positive class. Default: the second of two classes, or each of several in turn. */
  readonly positive?: string | number | boolean;
  /** Limit for the rate of positive predictions. */
  readonly demographicParity?: number;
  /** Limit for true and false positive rates, the larger difference. */
  readonly equalizedOdds?: number;
  readonly rule?: "credible" | "excluded";
}

/** A user's own check. Passes with exit code 0, or with status 200 and `{"passed": true}`. */
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
      /** Selects the check's signing key. A higher number gives another key. */
      readonly keyGeneration?: number;
    };

/**
 * The rule of a model whose policy has none: a version that replaces the champion must not be shown to be worse. A job
 * may be stricter, not milder.
 */
export const defaultNoRegression: NoRegressionRule = { tolerance: 0, rule: "credible", incompatible: "refuse" };
