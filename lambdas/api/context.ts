import { Hono } from "hono";
import type { Platform } from "../../adapters/platform";

/** What every route finds in its context. */
export interface ApiEnvironment {
  Variables: {
    readonly platform: Platform;
    readonly requestId: string;
    /** Who calls, for the records; authentication is the gateway's. */
    readonly actor: string;
  };
}

export function createRoutes(): Hono<ApiEnvironment> {
  return new Hono<ApiEnvironment>();
}
