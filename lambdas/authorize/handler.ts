import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from "aws-lambda";
import { readAuthorizerConfig } from "../../platform/config/settings";
import { createAuthorizer, createVerifier } from "./authorize";

let authorize: ReturnType<typeof createAuthorizer> | undefined;

/** Identifies the caller for API Gateway, by the token of an OpenID provider. */
export async function handler(event: APIGatewayTokenAuthorizerEvent): Promise<APIGatewayAuthorizerResult> {
  if (!authorize) {
    const config = readAuthorizerConfig(process.env);
    authorize = createAuthorizer(createVerifier(config), config);
  }
  return authorize(event);
}
