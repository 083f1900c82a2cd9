import type { APIGatewayProxyEvent } from "aws-lambda";
import { Hono } from "hono";
import type { Platform } from "../../adapters/platform";

/** What every route finds in its context. */
export interface ApiEnvironment {
  /** Absent where the app is called in process. */
  Bindings: { readonly event?: APIGatewayProxyEvent } | undefined;
  Variables: {
    readonly platform: Platform;
    readonly requestId: string;
    /** Who calls, for the records. */
    readonly actor: string;
  };
}

export function createRoutes(): Hono<ApiEnvironment> {
  return new Hono<ApiEnvironment>();
}
