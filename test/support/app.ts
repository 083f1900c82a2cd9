import { createApp } from "../../api/app";
import type { TestPlatform as Platform } from "./embedded";
import { type Calls, createTestPlatform, type Embedded, startEmbedded } from "./embedded";

export async function startTestApp(options: Parameters<typeof createApp>[1] = {}): Promise<{
  readonly embedded: Embedded;
  readonly platform: Platform;
  readonly calls: Calls;
  readonly app: ReturnType<typeof createApp>;
}> {
  const embedded = await startEmbedded();
  const { platform, calls } = createTestPlatform(embedded);
  return { embedded, platform, calls, app: createApp(platform, options) };
}

/** Sends a request with a JSON body to a path below `/api/v1`, or to a path of another API that starts with `/api/`. */
export async function callApp(
  app: Pick<ReturnType<typeof createApp>, "request">,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
) {
  const response = await app.request(path.startsWith("/api/") ? path : `/api/v1${path}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

/** Starts an API before the suite's cases, and stops it after them. */
export function useTestApp(options?: Parameters<typeof startTestApp>[0]): Awaited<ReturnType<typeof startTestApp>> {
  const started = {} as Awaited<ReturnType<typeof startTestApp>>;
  beforeAll(async () => void Object.assign(started, await startTestApp(options)));
  afterAll(() => started.embedded.stop());
  return started;
}
