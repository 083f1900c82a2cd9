import type { IncomingMessage, ServerResponse } from "node:http";
import { PassThrough, Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Service } from "../../local/service";

interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[] | null>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface Handler {
  handle(request: never, options?: never): Promise<unknown>;
}

/**
 * Makes an SDK client call a service of this process without a socket and without the front's check of the signature, which
 * take most of the processor time of a small request. A request with a stream goes over the wire.
 */
export function callInProcess(client: { readonly config: { requestHandler: Handler } }, service: Service): void {
  const { config } = client;
  const wire = config.requestHandler;
  const handle = async (sent: SentRequest, options?: { readonly abortSignal?: AbortSignal }): Promise<unknown> => {
    const { body, method, headers } = sent;
    const bytes = bytesOf(body);
    if (bytes === undefined || options?.abortSignal) return wire.handle(sent as never, options as never);
    // As a socket does: otherwise callers that repeat refused requests would leave no turn to timers and to the disk.
    await nextTurn();
    const lowerCase = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
    const request = Object.assign(Readable.from(bytes, { objectMode: false }), {
      ...{ method, url: urlOf(sent), headers: Object.fromEntries(lowerCase), socket: {}, complete: true },
    });
    return new Promise((resolve, reject) => {
      const response = new Response(resolve, reject);
      const received = request as unknown as IncomingMessage;
      service.handle(received, response as unknown as ServerResponse).catch(reject);
    });
  };
  config.requestHandler = Object.assign(Object.create(wire), { handle });
}

/** Returns the chunks of a body; `undefined` for a stream. */
function bytesOf(body: unknown): readonly Buffer[] | undefined {
  if (body === undefined) return [];
  if (typeof body === "string") return [Buffer.from(body)];
  return body instanceof Uint8Array ? [Buffer.from(body.buffer, body.byteOffset, body.byteLength)] : undefined;
}

function urlOf({ path, query = {} }: SentRequest): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((each) => `${encodeURIComponent(name)}=${each === null ? "" : encodeURIComponent(`${each}`)}`),
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join("&")}`;
}

class Response extends PassThrough {
  headersSent = false;
  private readonly sent: Record<string, string> = {};

  constructor(
    private readonly answered: (answer: object) => void,
    private readonly failed: (error: Error) => void,
  ) {
    super();
    this.on("error", () => undefined);
  }

  setHeader(name: string, value: unknown): void {
    this.sent[name.toLowerCase()] = String(value);
  }

  writeHead(statusCode: number, headers: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) this.setHeader(name, value);
    this.headersSent = true;
    this.answered({ response: { statusCode, headers: this.sent, body: this } });
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const broken = error ?? (this.writableFinished ? null : new Error("the connection was closed"));
    if (!this.headersSent && broken) this.failed(broken);
    done(broken);
  }
}
