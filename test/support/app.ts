import { createApp } from "../../api/app";
import { createTransferApp } from "../../api/mlflow/artifacts/transfer-app";
import type { Clock } from "../../core/ports";
import type { Embedded, TestPlatform } from "./embedded";
import { type Calls, createTestPlatform, noCalls, useEmbedded } from "./embedded";

export interface TestApp {
  readonly embedded: Embedded;
  readonly platform: TestPlatform;
  readonly calls: Calls;
  /** As behind API Gateway. */
  readonly app: ReturnType<typeof createApp>;
  /** As on one machine. */
  readonly transfers: ReturnType<typeof createTransferApp>;
}

/** Starts an app over stores of its own before the tests of a suite, and stops it after them. What it returns is empty until then. */
export function useTestApp(options: Parameters<typeof createApp>[1] = {}, clock?: Clock): TestApp {
  const embedded = useEmbedded();
  const calls = noCalls();
  const [platform, app, transfers] = [{} as TestPlatform, {} as TestApp["app"], {} as TestApp["transfers"]];
  beforeAll(() => {
    Object.assign(platform, createTestPlatform(embedded, clock, calls).platform);
    Object.assign(app, createApp(platform, options));
    Object.assign(transfers, createTransferApp(platform));
  });
  return { embedded, platform, calls, app, transfers };
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
