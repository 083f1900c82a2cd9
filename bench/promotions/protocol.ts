import type { Operation } from "../../test/core/registry/check/operation";

export const table = "Catalog";
export const team = "default";

export const connection = (endpoint: string) => ({
  endpoint,
  region: "us-east-1",
  credentials: { accessKeyId: "bench", secretAccessKey: "bench" },
});

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
  /** Of reading, deciding and committing: more than one where others were faster. */
  readonly rounds: number;
}
