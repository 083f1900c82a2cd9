import type { APIGatewayProxyEvent } from "aws-lambda";
import type { Context } from "hono";

/**
 * The headers of a request or a response, by lower-case name. It has the methods of `Headers` that the API calls.
 * `Headers` itself checks and converts each name and value, which takes a tenth of a read's time.
 */
class PlainHeaders {
  constructor(private readonly values: Map<string, string>) {}

  get(name: string): string | null {
    return this.values.get(name) ?? this.values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  set(name: string, value: string): void {
    this.values.set(name.toLowerCase(), value);
  }

  append(name: string, value: string): void {
    const before = this.get(name);
    this.set(name, before === null ? value : `${before}, ${value}`);
  }

  delete(name: string): void {
    this.values.delete(name.toLowerCase());
  }

  forEach(visit: (value: string, name: string) => void): void {
    for (const [name, value] of this.values) visit(value, name);
  }

  entries(): IterableIterator<[string, string]> {
    return this.values.entries();
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.values.entries();
  }
}

/**
 * A request without a body, made of a gateway's event. It has what Hono and the API read often. Anything else comes from
 * a `Request`, which is created when it is first needed.
 */
export class EventRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: PlainHeaders;
  private whole: Request | undefined;

  constructor(event: APIGatewayProxyEvent) {
    const query = queryOf(event);
    this.method = event.httpMethod;
    this.headers = new PlainHeaders(headersOf(event));
    const host = event.requestContext.domainName ?? this.headers.get("host");
    this.url = `https://${host}${event.path}${query === "" ? "" : `?${query}`}`;
  }

  private get request(): Request {
    this.whole ??= new Request(this.url, { method: this.method, headers: [...this.headers] });
    return this.whole;
  }

  get body(): Request["body"] {
    return null;
  }

  get signal(): AbortSignal {
    return this.request.signal;
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.request.arrayBuffer();
  }

  blob(): Promise<Blob> {
    return this.request.blob();
  }

  formData(): Promise<FormData> {
    return this.request.formData();
  }

  json(): Promise<unknown> {
    return this.request.json();
  }

  text(): Promise<string> {
    return this.request.text();
  }
}

function queryOf({ multiValueQueryStringParameters, queryStringParameters }: APIGatewayProxyEvent): string {
  const all = Object.entries(multiValueQueryStringParameters ?? {});
  const pairs =
    all.length > 0
      ? all.flatMap(([name, values]) => (values ?? []).map((value) => [name, value] as const))
      : Object.entries(queryStringParameters ?? {});
  return pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value ?? "")}`).join("&");
}

function headersOf({ headers, multiValueHeaders }: APIGatewayProxyEvent): Map<string, string> {
  const all = new Map<string, string>();
  for (const name in multiValueHeaders ?? {}) {
    const values = multiValueHeaders?.[name];
    if (values && values.length > 0)
      all.set(name.toLowerCase(), values.map((value) => sendable(value).trim()).join(", "));
  }
  for (const name in headers ?? {}) {
    const value = headers?.[name];
    const lower = name.toLowerCase();
    if (value && !all.has(lower)) all.set(lower, sendable(value).trim());
  }
  return all;
}

/** Encodes a value that no HTTP header could have, like Hono's adapter. */
function sendable(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters of ASCII.
  return /[^\x00-\x7f]/.test(value) ? encodeURIComponent(value) : value;
}

/** A JSON response to an event. The text is passed on as it is, without a stream. */
export class JsonReply {
  readonly headers: PlainHeaders;
  readonly ok = true;

  constructor(
    readonly content: string,
    readonly status: number,
    headers: Readonly<Record<string, string>>,
  ) {
    this.headers = new PlainHeaders(
      new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    );
  }

  get body(): Response["body"] {
    return this.clone().body;
  }

  clone(): Response {
    return new Response(this.content, { status: this.status, headers: [...this.headers] });
  }

  async text(): Promise<string> {
    return this.content;
  }
}

/** Creates a JSON response: a `Response`, or for an event a cheaper object. */
export function jsonResponse(
  context: Context,
  text: string,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const all = { "content-type": "application/json", ...headers };
  if (!(context.req.raw instanceof EventRequest)) return context.body(text, status as 200, all);
  return new JsonReply(text, status, all) as unknown as Response;
}
