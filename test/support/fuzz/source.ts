import type { FuzzAnswer, FuzzRequest } from "./request";

export interface RequestSource {
  /** The source's share of all requests. */
  readonly share: number;
  next(): Promise<FuzzRequest>;
  learn(request: FuzzRequest, answer: FuzzAnswer): void;
}

export interface FuzzCaller {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface FuzzCallers {
  readonly teams: readonly FuzzCaller[];
  /** All callers; a caller is listed as often as it must call. */
  readonly all: readonly FuzzCaller[];
}
