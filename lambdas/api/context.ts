import type { APIGatewayProxyEvent } from "aws-lambda";
import type { Platform } from "../../adapters/platform";
import type { Contract } from "../../core/api/contract";

/** What every route finds in its context. */
export interface ApiEnvironment {
  /** Absent where the app is called in process. */
  Bindings: { readonly event?: APIGatewayProxyEvent } | undefined;
  Variables: {
    readonly platform: Platform;
    readonly requestId: string;
    /** Of the route that answers; absent where none does. */
    readonly contract: Contract | undefined;
    /** Who calls, for the records. */
    readonly actor: string;
  };
}
