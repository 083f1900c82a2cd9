import type { PairedInterval } from "../../evaluation/paired-bootstrap";
import type { SliceEvidence } from "../../evaluation/slices/evidence";
import type { ContentReference } from "../../ports";

export const gateNames = [
  "threshold",
  "no-regression",
  "worst-slice",
  "slice-gap",
  "demographic-parity",
  "equalized-odds",
  "latency",
  "size",
  "check",
] as const;
export type GateName = (typeof gateNames)[number];

export interface GateCheck {
  readonly gate: GateName;
  /** What was measured: a metric, `p99Ms`, `bytes`; of an external check its name. */
  readonly metric: string;
  readonly value: number | null;
  /** What the value was held against. */
  readonly limit: number | null;
  readonly passed: boolean;
  /** Nobody has answered yet: neither passed nor failed, and nothing is promoted meanwhile. */
  readonly pending?: true;
  /** Its rule was not kept, and need not be: the model's policy says so. */
  readonly waived?: true;
  /** A sentence: which value, which rule. */
  readonly evidence: string;
  /** What the sentence rests on, where two models were compared row by row. */
  readonly interval?: PairedInterval;
  /** The same, where slices of the test split were. Of many slices those that decide; all of them are in the verdict's document. */
  readonly slices?: SliceEvidence;
  /** Of an external check. */
  readonly external?: {
    readonly kind: "http" | "command";
    /** Of its declaration: an answer holds for the check that was asked. */
    readonly digest: string;
    readonly answer?: CheckAnswer;
  };
}

export interface GateVerdict {
  readonly passed: boolean;
  readonly checks: readonly GateCheck[];
  /** The revision of the policy's rules that it was judged by; absent: of none. */
  readonly rulesRevision?: number;
  /** The champion that it was compared with. */
  readonly champion?: number;
  /** The verdict with its whole evidence, JSON in the content store: every slice, the latency's histogram. */
  readonly document?: ContentReference;
  readonly at: string;
}

/** The answer of an external check on a version. */
export interface CheckAnswer {
  readonly passed: boolean;
  /** A sentence from the checker. */
  readonly evidence: string;
  readonly by: string;
  readonly at: string;
  /** For a command: its exit code, the command line, and the end of its output. */
  readonly exitCode?: number;
  readonly command?: string;
  readonly output?: string;
}
