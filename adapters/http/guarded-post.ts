import { lookup as resolve } from "node:dns/promises";
import { request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { HookTargets } from "../../platform/config";
import { isLoopback, isPublicAddress, isThisMachine } from "./public-address";

/** A request was not sent, or its answer was not accepted. */
export class HookRefusedError extends Error {
  /** Whether a retry may succeed. */
  readonly passing: boolean;
  constructor(message: string, passing: boolean, cause?: unknown) {
    super(message, { cause });
    this.name = "HookRefusedError";
    this.passing = passing;
  }
}

export interface GuardedPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  /** The maximum bytes of the answer. */
  readonly maxBytes: number;
  readonly targets: HookTargets;
  /** Resolves a name to addresses. Tests replace it. */
  readonly resolveName?: (name: string) => Promise<readonly string[]>;
}

/**
 * Posts to a URL that a team member has chosen. The name is resolved once, every address is checked, and the connection
 * uses a checked address. A name that later resolves differently has no effect. Redirects are not followed.
 */
export async function guardedPost(post: GuardedPost): Promise<{ readonly status: number; readonly body: string }> {
  return send(new URL(post.url), await checkUrl(post), post);
}

/** The names that always mean this machine, even if a resolver does not know them (RFC 6761). */
const localhost = /(?:^|\.)localhost\.?$/i;

/** Resolves a URL to the address to connect to. @throws HookRefusedError if the URL may not be posted to */
async function checkUrl({
  url: text,
  targets: { allowLoopback, ownPorts },
  resolveName = allAddresses,
}: Pick<GuardedPost, "url" | "targets" | "resolveName">): Promise<{
  readonly address: string;
  readonly family: number;
}> {
  if (!URL.canParse(text))
    throw new HookRefusedError("it must be an https URL, such as https://example.com/hook", false);
  const url = new URL(text);
  const scheme =
    "it must be an https URL (also http to this machine where `ringmaster up --allow-loopback-hooks` allows it)";
  if (url.protocol !== "https:" && url.protocol !== "http:") throw new HookRefusedError(scheme, false);
  if (url.username !== "" || url.password !== "")
    throw new HookRefusedError("its URL must carry no credentials", false);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  let addresses: readonly string[];
  try {
    addresses = isIP(host) ? [host] : localhost.test(host) ? ["127.0.0.1"] : await resolveName(host);
  } catch (cause) {
    throw new HookRefusedError(`${host} has no address`, true, cause);
  }
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  if (addresses.some(isThisMachine) && ownPorts.includes(port)) {
    throw new HookRefusedError(`port ${port} of this machine is the stack's own`, false);
  }
  const here = addresses.length > 0 && addresses.every(isLoopback);
  if (url.protocol !== "https:" && !(here && allowLoopback && url.protocol === "http:")) {
    throw new HookRefusedError(scheme, false);
  }
  const wrong = addresses.find((address) => !isPublicAddress(address) && !(allowLoopback && isLoopback(address)));
  if (wrong !== undefined) {
    const resolved = wrong === host ? host : `${host} is ${wrong}, which`;
    throw new HookRefusedError(`${resolved} is no public address`, false);
  }
  const [address] = addresses;
  if (address === undefined) throw new HookRefusedError(`${host} has no address`, true);
  return { address, family: isIP(address) };
}

/**
 * Returns the reason why a URL may not be posted to, or `undefined` if it may. @param passing whether temporary
 * problems also count, such as a name without an address
 */
export async function problemOfUrl(
  settings: Pick<GuardedPost, "targets" | "resolveName">,
  url: string,
  passing = true,
): Promise<string | undefined> {
  try {
    await checkUrl({ ...settings, url });
    return undefined;
  } catch (error) {
    if (!(error instanceof HookRefusedError)) throw error;
    return error.passing && !passing ? undefined : error.message;
  }
}

async function allAddresses(name: string): Promise<readonly string[]> {
  return (await resolve(name, { all: true, verbatim: true })).map(({ address }) => address);
}

function send(
  url: URL,
  { address, family }: { readonly address: string; readonly family: number },
  { headers, body, timeoutMs, maxBytes }: GuardedPost,
): Promise<{ readonly status: number; readonly body: string }> {
  const lookup: LookupFunction = (_name, options, done) => {
    if (options.all) done(null, [{ address, family }]);
    else done(null, address, family);
  };
  // No agent is used, because a pooled connection would have been checked for another request.
  const options: RequestOptions = {
    method: "POST",
    agent: false,
    lookup,
    headers: { ...headers, "content-length": String(Buffer.byteLength(body)) },
    signal: AbortSignal.timeout(timeoutMs),
  };
  const request = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((done, refuse) => {
    const failed = (cause: Error): void => {
      const late = cause.name === "TimeoutError" || cause.name === "AbortError";
      const what = late ? `no answer within ${timeoutMs} ms` : `it could not be reached (${codeOf(cause)})`;
      refuse(cause instanceof HookRefusedError ? cause : new HookRefusedError(what, true, cause));
    };
    const sent = request(url, options, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxBytes)
          response.destroy(new HookRefusedError(`its answer has more than ${maxBytes} bytes`, false));
        else chunks.push(chunk);
      });
      response.on("error", failed);
      response.on("end", () =>
        done({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString("utf8") }),
      );
    });
    sent.on("error", failed);
    sent.on("upgrade", (_response, socket) => {
      socket.destroy();
      failed(new HookRefusedError("it switched to another protocol", false));
    });
    // Nothing follows a close. If neither an answer nor an error came before it, the request has failed.
    sent.on("close", () => failed(new Error("the connection was closed")));
    sent.end(body);
  });
}

function codeOf(error: Error): string {
  return (error as NodeJS.ErrnoException).code ?? error.message;
}
