import type { FuzzAnswer, FuzzRequest } from "./request";

/** One protocol's requests, made from what earlier answers contained. */
export interface RequestSource {
  /** The source's share of all requests. */
  readonly share: number;
  next(): Promise<FuzzRequest>;
  learn(request: FuzzRequest, answer: FuzzAnswer): void;
}

/** A caller, and which team and rights it has. */
export interface FuzzCaller {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface FuzzCallers {
  /** One of each team, who may do everything there. */
  readonly teams: readonly FuzzCaller[];
  /** A caller stands here as often as it is to call. */
  readonly all: readonly FuzzCaller[];
}
