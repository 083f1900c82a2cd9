import { type Framing, type FuzzAnswer, type FuzzRequest, sendRequest } from "./request";
import type { RequestSource } from "./source";

/** A slow request, to find those in progress while the event loop was blocked. */
export interface SlowRequest {
  readonly route: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly shown: string;
}

export interface CampaignResult {
  readonly requests: number;
  readonly seconds: number;
  readonly statuses: ReadonlyMap<string, ReadonlyMap<number, number>>;
  /** Undocumented failures. */
  readonly failures: readonly string[];
  readonly slow: readonly SlowRequest[];
}

export interface CampaignOptions {
  readonly requests: number;
  readonly inFlight: number;
  readonly sources: readonly RequestSource[];
  progress?(done: number): void;
}

const maxFailures = 50;
const slowMs = 150;

export async function runCampaign({ requests, inFlight, sources, progress }: CampaignOptions): Promise<CampaignResult> {
  const statuses = new Map<string, Map<number, number>>();
  const failures: string[] = [];
  const slow: SlowRequest[] = [];
  const begun = Date.now();
  const turns = turnsOf(sources);
  let started = 0;
  let done = 0;

  async function work(): Promise<void> {
    while (started < requests) {
      const number = started++;
      const source = turns[number % turns.length]!;
      const request = await source.next();
      const framing = framingOf(request, number);
      const startedAt = Date.now();
      const answer = await sendRequest(request, framing);
      const endedAt = Date.now();
      source.learn(request, answer);
      count(statuses, request.route, answer.status);
      if (endedAt - startedAt > slowMs) slow.push({ route: request.route, startedAt, endedAt, shown: shown(request) });
      const failure = failureOf(request, framing, answer);
      if (failure !== undefined && failures.length < maxFailures) failures.push(failure);
      done += 1;
      if (done % 5_000 === 0) progress?.(done);
    }
  }

  await Promise.all(Array.from({ length: inFlight }, work));
  return { requests: done, seconds: (Date.now() - begun) / 1000, statuses, failures, slow };
}

function turnsOf(sources: readonly RequestSource[]): readonly RequestSource[] {
  const turns = sources.flatMap((source) =>
    Array.from({ length: Math.round(source.share * 20) }, (_, i) => ({ source, at: i / source.share })),
  );
  return turns.sort((a, b) => a.at - b.at).map(({ source }) => source);
}

function framingOf({ body }: FuzzRequest, number: number): Framing {
  if (body === undefined) return "length";
  return number % 97 === 0 ? "truncated" : number % 11 === 0 ? "chunked" : "length";
}

/** 501: not offered. MLflow's server answers INVALID_STATE with 500, and clients expect it (docs/mlflow.md). */
function failureOf(request: FuzzRequest, framing: Framing, { status, text }: FuzzAnswer): string | undefined {
  if (status === 0) return framing === "truncated" ? undefined : `${shown(request)} was not answered`;
  if (status < 500 || status === 501) return undefined;
  if (status === 500 && text.includes('"INVALID_STATE"')) return undefined;
  return `${shown(request)} was answered ${status}: ${text.slice(0, 500)}`;
}

function shown({ route, method, url, body }: FuzzRequest): string {
  const text = body === undefined ? "" : Buffer.from(body as string).toString();
  return `${route}: ${method} ${url.slice(0, 300)} ${text.slice(0, 300)} (${text.length} characters)`;
}

function count(statuses: Map<string, Map<number, number>>, route: string, status: number): void {
  const counts = statuses.get(route) ?? new Map<number, number>();
  counts.set(status, (counts.get(status) ?? 0) + 1);
  statuses.set(route, counts);
}
