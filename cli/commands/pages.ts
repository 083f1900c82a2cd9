import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Command } from "commander";
import { ApiError } from "../../client/errors";
import type { RawRequest } from "../../client/transport";
import { InvalidInputError } from "../../core/errors";
import { contextOf, pagesOf } from "../context";
import { printJson } from "../output";
import { writeFileOf } from "../write-file";
import { findExperiment } from "./experiments";

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
 * Serves the API's pages on this machine with the command line's credentials, for browsers, which do not sign. Only a
 * client that knows the secret in the URL has access: no other user of this machine, and no page of another site.
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

interface PageOptions {
  readonly html?: string;
}

export function addPageCommands(runs: Command, experiments: Command, studies: Command): void {
  studies
    .command("page <study>")
    .description("print the URL of the report of a study: curves, importance of parameters, savings")
    .option("--html <file>", "write the report to a self-contained file")
    .action(async (name: string, options: PageOptions, command: Command) => {
      await contextOf(command).client.call("getStudy", { params: { study: name } });
      await show(`/api/v1/pages/studies/${encodeURIComponent(name)}`, options, command);
    });

  runs
    .command("page <run>")
    .description("print the URL of the page of a run: curves, lineage, code and files")
    .option("--html <file>", "write the page to a self-contained file")
    .action(async (runId: string, options: PageOptions, command: Command) => {
      // Fails if the run does not exist, before the URL is opened.
      await contextOf(command).client.call("getRun", { params: { runId } });
      await show(`/api/v1/pages/runs/${encodeURIComponent(runId)}`, options, command);
    });

  experiments
    .command("page <experiment>")
    .description("print the URL of the page of an experiment")
    .option("--html <file>", "write the page of the newest runs to a self-contained file")
    .action(async (which: string, options: PageOptions, command: Command) => {
      const { experimentId } = await findExperiment(contextOf(command).client, which);
      await show(`/api/v1/pages/experiments/${experimentId}`, options, command);
    });
}

async function show(path: string, { html: file }: PageOptions, command: Command): Promise<void> {
  const { json } = contextOf(command);
  const { baseUrl, request } = pagesOf(command);
  if (file === undefined) {
    const url = `${baseUrl}${path}`;
    if (json) printJson({ url });
    else process.stdout.write(`${url}\n`);
    return;
  }
  const response = await request(`${path}?links=false`, { accept: "application/json" });
  const text = await response.text();
  if (!response.ok) throw new ApiError(errorOf(text), response.status, response.headers);
  writeFileOf("--html", file, text);
  if (json) printJson({ file });
  else process.stdout.write(`${file}\n`);
}

function errorOf(text: string): ConstructorParameters<typeof ApiError>[0] {
  try {
    return JSON.parse(text).error;
  } catch {
    return { code: "BAD_RESPONSE", message: "the API sent a response that is not its error format; check --api" };
  }
}

/** Adds `browse`, which serves the pages if a browser's requests would need a signature or a token. */
export function addBrowseCommand(program: Command): void {
  program
    .command("browse [link]")
    .description(
      "serve the pages of experiments and runs to a browser, with the credentials of this command; LINK is a link that an MLflow client printed",
    )
    .option("--port <port>", "port on 127.0.0.1 (0: any free port)", "0")
    .action(async (link: string | undefined, { port }: { port: string }, command: Command) => {
      const { json } = contextOf(command);
      if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
        const rule = "must be a port from 0 to 65535";
        throw new InvalidInputError("the pages cannot be served", [{ path: "--port", value: port, rule }]);
      }
      const fragment = fragmentOf(link);
      const { request } = pagesOf(command);
      // An error is more useful here than in the browser.
      const first = await request("/api/v1/pages/experiments", { accept: "application/json" });
      if (!first.ok) throw new ApiError(errorOf(await first.text()), first.status, first.headers);
      const secret = randomBytes(16).toString("hex");
      const server = createBrowseServer(request, secret).listen(Number(port), "127.0.0.1");
      await once(server, "listening");
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${secret}/${fragment}`;
      if (json) printJson({ url });
      else process.stdout.write(`${url}\nserving until Ctrl-C; anyone on this machine with this URL can open it\n`);
      for (const signal of ["SIGINT", "SIGTERM"] as const) {
        process.once(signal, () => {
          server.close();
          server.closeAllConnections();
        });
      }
      await once(server, "close");
    });
}

function fragmentOf(link: string | undefined): string {
  if (link === undefined) return "";
  const at = link.indexOf("#/");
  if (at !== -1) return link.slice(at);
  const rule = "must be a link that an MLflow client printed, with #/experiments/… in it";
  throw new InvalidInputError("the link cannot be opened", [{ path: "link", value: link, rule }]);
}
