import { lookup as resolve } from "node:dns/promises";
import { request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { BlockList, isIP, isIPv4, isIPv6, type LookupFunction } from "node:net";
import type { HookTargets } from "../../platform/config";

/**
 * The addresses that are not part of the public internet: internal addresses that a function might reach. From IANA's
 * special-purpose registries (RFC 6890 and its updates), including IPv6 ranges that embed an IPv4 address.
 */
const notPublic = new BlockList();
for (const [net, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16], // Link-local: metadata of instances, containers and functions.
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  notPublic.addSubnet(net, prefix, "ipv4");
}
for (const [net, prefix] of [
  ["2001::", 23], // Teredo, ORCHID, benchmarking.
  ["2001:db8::", 32],
  ["2002::", 16], // 6to4, which embeds an IPv4 address.
  ["3fff::", 20],
] as const) {
  notPublic.addSubnet(net, prefix, "ipv6");
}
/** The part of IPv6 that is allocated to the internet. */
const globalUnicast = new BlockList();
globalUnicast.addSubnet("2000::", 3, "ipv6");

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !notPublic.check(address, "ipv4");
  if (!isIPv6(address)) return false;
  return globalUnicast.check(address, "ipv6") && !notPublic.check(address, "ipv6");
}

function isLoopback(address: string): boolean {
  return isIPv4(address) ? loopback.check(address, "ipv4") : isIPv6(address) && loopback.check(address, "ipv6");
}

/** Returns whether a connection to an address reaches this machine itself, including the unspecified addresses. */
function isThisMachine(address: string): boolean {
  return isLoopback(address) || address === "0.0.0.0" || address === "::";
}

export function isLoopbackUrl(url: string | undefined): boolean {
  if (url === undefined || !URL.canParse(url)) return false;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  return host === "localhost" || isLoopback(host);
}

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
  readonly maxBytes: number;
  readonly targets: HookTargets;
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

/** Returns why a URL may not be posted to, if so. @param passing whether temporary problems count too */
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
