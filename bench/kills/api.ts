import { RefusedError } from "../../test/support/operation-verdict";

export interface Api {
  /** @param path below `/api` */
  call<T>(method: string, path: string, body?: object | Uint8Array, headers?: Record<string, string>): Promise<T>;
  /** Calls the API; undefined if the answer is 404. */
  find<T>(path: string): Promise<T | undefined>;
}

/** Longer than any operation takes. A longer call is stuck. */
const patienceMs = 60_000;

export function createApi(base: () => string, token: string): Api {
  async function call<T>(
    method: string,
    path: string,
    body?: object | Uint8Array,
    headers: Record<string, string> = {},
  ): Promise<T> {
    const response = await fetch(`${base()}/api${path}`, {
      method,
      headers: {
        "content-type": body instanceof Uint8Array ? "application/octet-stream" : "application/json",
        authorization: `Bearer ${token}`,
        ...headers,
      },
      body: body === undefined ? null : body instanceof Uint8Array ? body : JSON.stringify(body),
      signal: AbortSignal.timeout(patienceMs),
    });
    const text = await response.text();
    if (response.ok) return (text === "" ? undefined : parsed(text)) as T;
    // An error of the server says nothing about the effect.
    if (response.status >= 500) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 300)}`);
    throw new RefusedError(
      `${response.status}`,
      `${method} ${path} answered ${response.status}: ${text.slice(0, 500)}`,
    );
  }
  return {
    call,
    async find(path) {
      try {
        return await call("GET", path);
      } catch (error) {
        if (error instanceof RefusedError && error.code === "404") return undefined;
        throw error;
      }
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
