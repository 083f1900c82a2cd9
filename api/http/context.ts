import type { APIGatewayProxyEvent } from "aws-lambda";
import type { Context } from "hono";
import type { Platform } from "../../adapters/platform";
import type { Person } from "../../core/access/principals";
import { requireScope, type Scope } from "../../core/access/tokens";
import type { Actor } from "../../core/registry/model";
import type { ApiOperation } from "../operation";

export interface ApiEnvironment {
  /** Absent if the app is called in process. */
  Bindings: { readonly event?: APIGatewayProxyEvent } | undefined;
  Variables: {
    readonly platform: Platform;
    readonly requestId: string;
    /** Operation of the matched route; absent if none matched. */
    readonly operation: ApiOperation | undefined;
    /** Display name of the caller, for the records. */
    readonly actor: string;
    readonly person: Person | undefined;
    /** The scopes of the caller's token; absent if it has none. */
    readonly scopes: readonly Scope[] | undefined;
  };
}

/** @throws INSUFFICIENT_SCOPE */
export function checkScope(context: Context<ApiEnvironment>, operation: string, required: Scope): void {
  requireScope({ actor: context.get("actor"), granted: context.get("scopes") }, operation, required);
}

/** Returns the caller as the registry records it. */
export function callerIn(context: Context<ApiEnvironment>): Pick<Actor, "by" | "person"> {
  const person = context.get("person");
  return { by: context.get("actor"), ...(person ? { person } : {}) };
}
