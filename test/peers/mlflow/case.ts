/**
 * A conversation in MLflow's protocol, held with MLflow's own server and with ours. In every text `<name>` stands for
 * what an earlier step saved, and
 * `<nonce>` for a text that is this conversation's alone: whatever is made is named by it, so that conversations do not
 * meet.
 */
export interface MlflowCase {
  /** One of its kind in its file. */
  readonly name: string;
  readonly steps: readonly Step[];
}

export interface Step {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD";
  /**
   * Under `/api/2.0/`, as `mlflow/runs/create`; with a leading slash the whole path. It is sent as it stands, percent
   * signs and dots included.
   */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, instead of a body. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Parts of the response for later steps: `{ run: "run.info.run_id" }`, where numbers are indexes of lists. Saved values
   * are equal to each other in comparison.
   */
  readonly save?: Readonly<Record<string, string>>;
  readonly compare?: Comparison;
  /**
   * A phrase that the message of a refusal contains: MLflow's own client tests read it. Other wording is not compared.
   */
  readonly says?: string;
  /** The platform's response if it differs from MLflow's on purpose; MLflow's response is not compared. */
  readonly ours?: { readonly why: string; readonly status: number; readonly body?: unknown };
}

export interface Comparison {
  /** `all` (default): every value. `shape`: names and types. `error`: the status, and the code of a refusal. */
  readonly body?: "all" | "shape" | "error";
  /** Parts that are left out, `*` for every place in a list: `runs.*.info.user_id`. */
  readonly ignore?: readonly string[];
  /** Lists whose order says nothing, as `runs.*.data.params`. Lists of `{key, …}` are sorted by key anyway. */
  readonly unordered?: readonly string[];
  /** Headers that are compared too. */
  readonly headers?: readonly string[];
}

export interface CaseGroup {
  readonly group: string;
  readonly cases: readonly MlflowCase[];
}
