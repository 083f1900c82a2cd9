import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { RawRequest } from "../client/raw";

/** Paths that are linked from pages. No other path is requested with the caller's credentials. */
const forwarded = {
  GET: /^\/(?:$|api\/v1\/(?:pages\/|docs$|openapi\.json$))/,
  POST: /^\/api\/v1\/pages\/runs\/[^/]+\/register$/,
} as const;
const refusal = "only pages of experiments and runs, and the form that registers a run, are served here";
/** Headers of a response that a browser needs. */
const kept = [
  "content-type",
  "content-security-policy",
  "x-content-type-options",
  "referrer-policy",
  "cache-control",
  "location",
];

/**
 * Serves the API's pages on this machine with the credentials of the command line, for browsers, which neither sign
 * requests nor have tokens. Only a client that knows the secret in the URL has access: neither other users of this
 * machine nor pages of other sites. The API checks that a form was sent by one of its own pages, by a header that only
 * browsers set.
 */
export function createBrowseServer(send: RawRequest, secret: string): Server {
  return createServer((request, response) => {
    answer(send, secret, request, response).catch((error) => {
      if (!response.headersSent) response.writeHead(502, { "content-type": "text/plain; charset=utf-8" });
      response.end(`${(error as Error).message}\n`);
    });
  });
}

async function answer(
  send: RawRequest,
  secret: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method, url = "/", headers } = request;
  const prefix = `/${secret}`;
  const refuse = (status: number, why: string): void => {
    response.writeHead(status, { "content-type": "text/plain; charset=utf-8" });
    response.end(`${why}\n`);
  };
  if (!url.startsWith(`${prefix}/`)) return refuse(404, "open the URL that `ringmaster browse` printed");
  const path = url.slice(prefix.length);
  if (method !== "GET" && method !== "POST") return refuse(404, refusal);
  if (!forwarded[method].test(path.split("?", 1)[0]!) || /(?:^|\/)(?:\.|%2e){1,2}(?:\/|\?|$)/i.test(path)) {
    return refuse(404, refusal);
  }
  const accept = headers.accept ?? "text/html";
  const site = headers["sec-fetch-site"];
  const stated: Readonly<Record<string, string>> =
    typeof site === "string" && method === "POST" ? { "sec-fetch-site": site } : {};
  // The browser may wait for the connection to take the rest of the body, which is not forwarded.
  request.resume();
  const answered = await send(path, { accept, ...stated }, method);
  for (const name of kept) {
    const value = answered.headers.get(name);
    if (value !== null) response.setHeader(name, value);
  }
  response.writeHead(answered.status);
  response.end(Buffer.from(await answered.arrayBuffer()));
}
