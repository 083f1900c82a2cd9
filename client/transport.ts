import { RingmasterError } from "../core/errors";
import { type OperationCall, operationCalls } from "./calls";
import {
  ApiError,
  ApiTimeoutError,
  ApiUnreachableError,
  isRetryable,
  pauseBefore,
  type RetryOptions,
  retryDefaults,
} from "./errors";
import { follow, type RunEvent } from "./follow";
import type { Answer, Item, OperationName, PagedName, Request } from "./operations";

export interface TransportOptions extends Partial<RetryOptions> {
  /** Origin and stage: `http://127.0.0.1:4700`, `https://….execute-api.eu-west-1.amazonaws.com/live`. */
  readonly baseUrl: string;
  /** Name of the caller for records; on AWS the signature determines the caller. */
  readonly actor?: string;
  /** One of the caller's teams; optional for callers in one team. */
  readonly team?: string;
  readonly token?: string;
  /** Returns further headers of each request, e.g. a signature over method, URL, headers and body. */
  readonly authorize?: (request: OutgoingRequest) => Promise<Readonly<Record<string, string>>>;
  /** Time limit of one attempt. Default 30 s: the API responds within 29. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
}

export interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

interface AnyRequest {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
}

/** Idempotent requests are retried with full jitter after no response, a timeout, 429, 502, 503 or 504. */
export function createTransport(options: TransportOptions) {
  const retry = { ...retryDefaults, ...options };
  const send = options.fetch ?? fetch;
  const timeoutMs = options.timeoutMs ?? 30_000;
  const caller = {
    ...(options.actor === undefined ? {} : { "x-ringmaster-actor": options.actor }),
    ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
    ...(options.team === undefined ? {} : { "x-ringmaster-team": options.team }),
  };

  function outgoingOf(name: OperationName, { params, query, body, idempotencyKey }: AnyRequest): OutgoingRequest {
    const { method, path } = callOf(name);
    return {
      method,
      url: urlOf(options.baseUrl, path, params ?? {}, query ?? {}),
      body: body === undefined ? undefined : JSON.stringify(body),
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...caller,
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
      },
    };
  }

  /** @throws ApiError, ApiUnreachableError, ApiTimeoutError */
  async function call<Name extends OperationName>(name: Name, request: Request<Name>): Promise<Answer<Name>> {
    return (await repeated(name, request, answerOf)) as Answer<Name>;
  }

  /** Returns the answer in a format other than JSON, which the request names. @throws the errors of `call` */
  function text<Name extends OperationName>(name: Name, request: Request<Name>): Promise<string> {
    return repeated(name, request, textOf);
  }

  async function repeated<Body>(name: OperationName, request: AnyRequest, read: Reader<Body>): Promise<Body> {
    const { repeatable } = callOf(name);
    const { idempotencyKey } = request;
    const outgoing = outgoingOf(name, request);
    const safe = repeatable === "always" || (repeatable === "with-key" && idempotencyKey !== undefined);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await once(outgoing, read);
      } catch (error) {
        if (attempt >= retry.attempts || !isRetryable(error, safe)) throw error;
        await retry.sleep(pauseBefore(attempt, error, retry));
      }
    }
  }

  async function once<Body>(request: OutgoingRequest, read: Reader<Body>): Promise<Body> {
    const { method, url } = request;
    try {
      const response = await open(request, AbortSignal.timeout(timeoutMs));
      return await read(request, response);
    } catch (cause) {
      if (cause instanceof RingmasterError) throw cause;
      if (cause instanceof Error && cause.name === "TimeoutError")
        throw new ApiTimeoutError(method, url, timeoutMs, cause);
      throw new ApiUnreachableError(options.baseUrl, cause);
    }
  }

  async function open(request: OutgoingRequest, signal: AbortSignal, more: RequestInit = {}): Promise<Response> {
    const { method, url, headers, body } = request;
    const signature = (await options.authorize?.(request)) ?? {};
    return send(url, { method, headers: { ...headers, ...signature }, body, signal, ...more });
  }

  /** Requests a path below the base URL with content other than JSON. Returns redirects. A POST has no body. */
  async function raw(
    path: string,
    headers: Readonly<Record<string, string>> = {},
    method: "GET" | "POST" = "GET",
  ): Promise<Response> {
    const url = new URL(`${options.baseUrl.replace(/\/$/, "")}${path}`);
    const request = { method, url, headers: { ...headers, ...caller }, body: undefined };
    try {
      return await open(request, AbortSignal.timeout(timeoutMs), { redirect: "manual" });
    } catch (cause) {
      throw new ApiUnreachableError(options.baseUrl, cause);
    }
  }

  /** Yields events of a run until it has ended; see `follow`. */
  function followRun(
    runId: string,
    query: { readonly metric?: string } = {},
  ): AsyncGenerator<RunEvent, void, undefined> {
    const { headers, ...rest } = outgoingOf("getTrainingRunMetrics", { params: { runId }, query });
    return follow({
      baseUrl: options.baseUrl,
      retry,
      async connect(lastEventId, signal) {
        const from: Record<string, string> = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
        const request = { ...rest, headers: { ...headers, accept: "text/event-stream", ...from } };
        const response = await open(request, signal);
        if (!response.ok) await answerOf(request, response); // throws
        return response;
      },
    });
  }

  /** Yields the items of a list and requests its pages as they are needed. */
  async function* pages<Name extends PagedName>(
    name: Name,
    request: Request<Name>,
  ): AsyncGenerator<Item<Name>, void, undefined> {
    const { pages: items = "items" } = callOf(name);
    let query: Readonly<Record<string, unknown>> = (request as AnyRequest).query ?? {};
    for (;;) {
      const page: object = await call(name, { ...request, query } as Request<Name>);
      const { [items]: found, nextToken } = page as Readonly<Record<string, unknown>>;
      yield* found as readonly Item<Name>[];
      if (nextToken === undefined) return;
      query = { ...query, nextToken };
    }
  }

  return { call, text, pages, followRun, raw };
}

export type RawRequest = ReturnType<typeof createTransport>["raw"];

type Reader<Body> = (request: OutgoingRequest, response: Response) => Promise<Body>;

async function textOf(request: OutgoingRequest, response: Response): Promise<string> {
  if (!response.ok) await answerOf(request, response); // throws
  return response.text();
}

/** @throws ApiError for anything but a success without content or with JSON */
async function answerOf({ method, url }: OutgoingRequest, response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  const answer = parse(await response.text());
  if (response.ok && answer !== undefined) return answer;
  const error = (answer as { readonly error?: ConstructorParameters<typeof ApiError>[0] } | undefined)?.error ?? {
    code: "BAD_RESPONSE",
    message: `${method} ${url.pathname} answered ${response.status} with something that is not the API's JSON`,
  };
  throw new ApiError(error, response.status, response.headers);
}

function callOf(name: string): OperationCall {
  const call = operationCalls()[name];
  if (call === undefined) throw new Error(`the API has no operation ${name}`);
  return call;
}

function urlOf(
  baseUrl: string,
  path: string,
  params: Readonly<Record<string, string | number>>,
  query: Readonly<Record<string, string | number | undefined>>,
): URL {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
  const url = new URL(`${baseUrl.replace(/\/+$/, "")}/api/v1${filled}`);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
