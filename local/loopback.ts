import type { IncomingHttpHeaders } from "node:http";

const loopbackHost = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;
/** Buckets in the host's name, as S3's clients write them. None of these names is anybody's to point at this machine. */
const bucketHost = /\.(localhost|amazonaws\.com)(:\d+)?$/;

/**
 * The host or web page that a request speaks for, where it is not this machine; `undefined` where it is. Listening on 127.0.0.1 keeps other
 * machines out, not the pages in this machine's browsers: those send requests to any port, and reach it by names of their own.
 */
export function foreignCaller({ host = "", origin }: IncomingHttpHeaders): string | undefined {
  if (!loopbackHost.test(host) && !bucketHost.test(host)) return `requests to host "${host}"`;
  if (origin === undefined) return undefined;
  // A page that has no origin of its own, such as a local file, says `null`.
  const page = URL.canParse(origin) ? new URL(origin).host : "";
  return loopbackHost.test(page) ? undefined : `requests from pages of ${origin}`;
}
