import type { FuzzAnswer, FuzzRequest } from "./request";

/** Requests of one protocol, derived from earlier answers. */
export interface RequestSource {
  /** The source's share of all requests. */
  readonly share: number;
  next(): Promise<FuzzRequest>;
  learn(request: FuzzRequest, answer: FuzzAnswer): void;
}

/** A caller with its team and permissions. */
export interface FuzzCaller {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface FuzzCallers {
  /** One caller per team, with all permissions there. */
  readonly teams: readonly FuzzCaller[];
  /** All callers; a caller is listed as often as it must call. */
  readonly all: readonly FuzzCaller[];
}
