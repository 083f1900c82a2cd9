import type { Operation } from "../../test/core/registry/check/operation";

/** What a client is told. */
export interface Order {
  readonly model: string;
  readonly operations: readonly Operation[];
}

/** What it says of each. */
export interface Answer {
  readonly id: string;
  /** `done`, or a refusal's code. */
  readonly answer: string;
  /** Commits of this process that others were faster than, since it last answered. */
  readonly lostRaces: number;
}
