import type { IncomingMessage } from "node:http";

const loopbackHost = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::(\d+))?$/i;
/**
 * A host name with a bucket in it, as S3 clients write it. Resolvers and browsers resolve names under `localhost` to
 * this machine.
 */
const bucketHost = /^[a-z0-9][a-z0-9.-]*\.localhost(?::(\d+))?$/i;

/** The audience of a port: pages that send their own requests, or services that no page calls. */
export type Audience = "pages" | "services";

/**
 * Returns a description of a request's foreign host or web page, or `undefined` if this port serves the request.
 *
 * Listening on 127.0.0.1 keeps other machines out, but not the pages in this machine's browsers. A page of another
 * origin may send requests to any port, and its host name may resolve to this machine (DNS rebinding). Therefore the
 * host must be a loopback name with the port's number. A browser must also state that the request comes from the port's
 * own pages or from a link that the user followed. A followed link cannot write.
 */
export function foreignCaller(
  {
    headers,
    method = "GET",
    socket,
  }: Pick<IncomingMessage, "headers" | "method"> & {
    readonly socket: { readonly localPort?: number };
  },
  audience: Audience,
): string | undefined {
  const { host = "", origin } = headers;
  const match = loopbackHost.exec(host) ?? (audience === "services" ? bucketHost.exec(host) : null);
  if (!match || (match[1] !== undefined && Number(match[1]) !== socket.localPort)) return `requests to host "${host}"`;
  if (origin !== undefined && !(audience === "pages" && origin === `http://${host}`)) {
    return `requests from pages of ${origin}`;
  }
  const site = headers["sec-fetch-site"];
  if (site === undefined || site === "none" || (site === "same-origin" && audience === "pages")) return undefined;
  const isLink =
    (method === "GET" || method === "HEAD") &&
    headers["sec-fetch-mode"] === "navigate" &&
    headers["sec-fetch-dest"] === "document";
  return isLink ? undefined : `${site} requests of pages (Sec-Fetch-Site)`;
}
