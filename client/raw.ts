import { ApiUnreachableError } from "./errors";
import type { TransportOptions } from "./transport";

/**
 * Creates a function that requests content other than JSON (a page, a file's address), by paths below the base URL. It
 * returns redirects instead of following them. A POST has no body.
 */
export function createRawRequest(options: TransportOptions) {
  const { baseUrl, actor, team, token, authorize, timeoutMs = 30_000 } = options;
  return async (
    path: string,
    headers: Readonly<Record<string, string>> = {},
    method: "GET" | "POST" = "GET",
  ): Promise<Response> => {
    const url = new URL(`${baseUrl.replace(/\/$/, "")}${path}`);
    const all = {
      ...headers,
      ...(actor === undefined ? {} : { "x-ringmaster-actor": actor }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(team === undefined ? {} : { "x-ringmaster-team": team }),
    };
    const signature = (await authorize?.({ method, url, headers: all, body: undefined })) ?? {};
    try {
      return await (options.fetch ?? fetch)(url, {
        method,
        headers: { ...all, ...signature },
        redirect: "manual",
        signal: AbortSignal.timeout(timeoutMs),
      });
    } catch (cause) {
      throw new ApiUnreachableError(baseUrl, cause);
    }
  };
}

export type RawRequest = ReturnType<typeof createRawRequest>;
