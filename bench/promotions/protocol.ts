import type { Operation } from "../../test/core/registry/check/operation";

/** An order to a client. */
export interface Order {
  readonly model: string;
  readonly operations: readonly Operation[];
}

/** A client's answer to each operation. */
export interface Answer {
  readonly id: string;
  /** `done`, or a refusal's code. */
  readonly answer: string;
  /** Number of commits of this process that lost a race since its last answer. */
  readonly lostRaces: number;
}
