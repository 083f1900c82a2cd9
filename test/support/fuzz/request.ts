import { Agent, request as httpRequest } from "node:http";

export interface FuzzRequest {
  /** The name by which answers are counted: `native createModel`, `mlflow POST /mlflow/runs/create`, `aws dynamodb PutItem`. */
  readonly route: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Transfer of the body. */
export type Framing = "length" | "chunked" | "truncated";

export interface FuzzAnswer {
  /** 0: the connection ended without an answer. */
  readonly status: number;
  readonly text: string;
  readonly contentType: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });
/** A slower answer is a failure. */
const timeoutMs = 60_000;
/** Maximum size of an answer's body in bytes: the stream of an open run lasts for minutes. */
const maxRead = 256 * 1024;

export function sendRequest({ method, url, headers, body }: FuzzRequest, framing: Framing): Promise<FuzzAnswer> {
  return new Promise((resolve) => {
    const bytes = body === undefined ? undefined : Buffer.from(body as string);
    const { hostname, port } = new URL(url);
    const path = url.slice(url.indexOf("/", "http://".length)) || "/";
    const length = framing === "truncated" ? (bytes?.length ?? 0) + 10 : bytes?.length;
    const sent = httpRequest({
      agent,
      hostname,
      port,
      method,
      path,
      headers: {
        ...headers,
        // Without either header, Node sends the body of a DELETE after the end of the request.
        ...(bytes === undefined
          ? {}
          : framing === "chunked"
            ? { "transfer-encoding": "chunked" }
            : { "content-length": length }),
      },
      timeout: timeoutMs,
    });
    const failed = { status: 0, text: "", contentType: "" };
    sent.on("error", () => resolve(failed));
    sent.on("timeout", () => {
      resolve({ ...failed, status: 599, text: `no answer in ${timeoutMs} ms` });
      sent.destroy();
    });
    sent.on("response", (response) => {
      const chunks: Buffer[] = [];
      let read = 0;
      const contentType = String(response.headers["content-type"] ?? "");
      const done = () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString(), contentType });
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        read += chunk.length;
        if (read < maxRead && !contentType.startsWith("text/event-stream")) return;
        done();
        response.destroy();
      });
      response.on("end", done);
      response.on("error", done);
      response.on("close", done);
    });
    if (framing === "truncated") {
      sent.write(bytes ?? "");
      // The server waits for the rest, which is never sent.
      setTimeout(() => sent.destroy(), 20);
    } else sent.end(bytes);
  });
}

export function closeConnections(): void {
  agent.destroy();
}
