import type { Operation } from "../../test/core/registry/check/operation";

export interface Order {
  readonly model: string;
  readonly operations: readonly Operation[];
}

export interface Answer {
  readonly id: string;
  /** `done`, or a refusal's code. */
  readonly answer: string;
  /** Number of commits of this process that lost a race since its last answer. */
  readonly lostRaces: number;
}
