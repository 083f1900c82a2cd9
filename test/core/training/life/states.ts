import type { Conclusion, StateError } from "../../../../core/training/conclusion";

export type StateName = "ValidateDataset" | "LaunchTraining" | "Register" | "RecordRegistration" | "RecordFailure";

export interface Invocation {
  /** The n-th of its execution: what an earlier one answers, nobody hears. */
  readonly id: number;
  readonly state: StateName;
  readonly token?: string;
  readonly conclusion?: Conclusion;
  readonly error?: StateError;
}

const next: Readonly<Record<StateName, StateName | "succeeded" | "failed">> = {
  ValidateDataset: "LaunchTraining",
  LaunchTraining: "Register",
  Register: "RecordRegistration",
  RecordRegistration: "succeeded",
  RecordFailure: "failed",
};

const conclusions: Readonly<Partial<Record<StateName, Conclusion>>> = {
  RecordRegistration: "registered",
  RecordFailure: "failed",
};

export const waitsForToken = (state: StateName): boolean => state === "LaunchTraining";

/** Heartbeat timeout of `LaunchTraining`. */
const heartbeatMs = 900_000;
const retries = 6;

/** One execution, as Step Functions takes it through the states of `state-machines/definition.ts` that matter to a run's life. */
export class ModelExecution {
  status: "running" | "succeeded" | "failed" | "aborted" = "running";
  state: StateName = "ValidateDataset";
  /** Answers that were taken, of those that came. */
  readonly accepted: string[] = [];
  private token?: string;
  private heartbeatAt = 0;
  private tries = 0;
  private calls = 0;
  private error?: StateError;

  constructor(
    private readonly now: () => number,
    private readonly invoke: (invocation: Invocation) => void,
    private readonly onEnd: (status: "FAILED" | "ABORTED", error?: StateError) => void,
  ) {
    this.enter("ValidateDataset");
  }

  private enter(state: StateName | "succeeded" | "failed"): void {
    if (state === "succeeded" || state === "failed") {
      this.status = state;
      if (state === "failed") this.onEnd("FAILED", this.error);
      return;
    }
    this.state = state;
    this.tries = 0;
    this.call();
  }

  private call(): void {
    const id = ++this.calls;
    this.token = waitsForToken(this.state) ? `token-${id}` : undefined;
    this.heartbeatAt = this.now();
    this.invoke({ id, state: this.state, token: this.token, conclusion: conclusions[this.state], error: this.error });
  }

  /** The function has answered. A state that waits for its token waits on. */
  returned({ id, state }: Invocation): void {
    if (!this.hears(id)) return;
    if (!waitsForToken(state)) this.enter(next[state]);
  }

  /** The function's error, or its process's death. */
  threw({ id }: Invocation, error: StateError, retried: boolean): void {
    if (!this.hears(id)) return;
    if (retried && this.tries < retries) {
      this.tries += 1;
      this.call();
    } else this.caught(error);
  }

  private caught(error: StateError): void {
    if (this.state !== "RecordFailure") this.error = error;
    this.enter(this.state === "RecordFailure" ? "failed" : "RecordFailure");
  }

  /** Whether anybody waits for what the n-th call answers. Once its token is answered, the state is over. */
  hears(id: number): boolean {
    return this.status === "running" && id === this.calls && (this.token !== undefined || !waitsForToken(this.state));
  }

  answer(token: string, error?: StateError): void {
    if (this.status !== "running" || token !== this.token) return;
    this.accepted.push(token);
    this.token = undefined;
    if (error) this.caught(error);
    else this.enter(next[this.state]);
  }

  heartbeat(token: string): void {
    if (token === this.token) this.heartbeatAt = this.now();
  }

  /** Time has passed. The retrier of missed heartbeats starts the state again. */
  tick(): void {
    if (this.status !== "running" || this.state !== "LaunchTraining" || this.token === undefined) return;
    if (this.now() - this.heartbeatAt > heartbeatMs) this.call();
  }

  stop(): void {
    if (this.status !== "running") return;
    this.status = "aborted";
    this.onEnd("ABORTED");
  }
}
