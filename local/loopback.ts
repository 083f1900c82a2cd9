import type { IncomingMessage } from "node:http";

const loopbackHost = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::(\d+))?$/i;
/** A bucket in the host's name, as S3's clients write it. Resolvers and browsers keep names under `localhost` on this machine. */
const bucketHost = /^[a-z0-9][a-z0-9.-]*\.localhost(?::(\d+))?$/i;

/** The kind of a port: it serves pages that send requests of their own, or services that no page calls. */
export type Audience = "pages" | "services";

/**
 * Names the host or the web page that a request comes from, where this port does not serve it; `undefined` where it does.
 *
 * Listening on 127.0.0.1 keeps other machines out, but not the pages in this machine's browsers. A page of another origin may send requests to any
 * port, and a name of its own may resolve to this machine (DNS rebinding). So the host must be a loopback name with the port's number, and a browser
 * must say that the request comes from the port's own pages, or is a link that somebody follows. Following a link cannot write.
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
