import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from "aws-lambda";

/** Returns the claims of a token with valid signature, issuer, audience and times; rejects if one is invalid. */
export type Verify = (token: string) => Promise<Readonly<Record<string, unknown>>>;

/** With exactly this message, API Gateway distinguishes a refusal (401) from a failure of the authorizer (500). */
const unauthorized = "Unauthorized";

/**
 * Identifies the caller for the gateway. The gateway caches the result for some minutes for each token, whatever the
 * caller requests next, so the result covers the whole API; the team determines what a caller may do there. The
 * functions check `exp` with every request.
 *
 * @throws Error "Unauthorized" if the token is invalid; any other error if the check failed
 */
export function createAuthorizer(verify: Verify, { groupsClaim }: { readonly groupsClaim: string }) {
  return async ({
    authorizationToken,
    methodArn,
  }: APIGatewayTokenAuthorizerEvent): Promise<APIGatewayAuthorizerResult> => {
    const token = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(authorizationToken ?? "")?.[1];
    if (token === undefined) throw new Error(unauthorized);
    const claims = await verify(token);
    const { sub, iss, exp } = claims;
    if (typeof sub !== "string" || sub === "" || typeof iss !== "string") throw new Error(unauthorized);
    // A token without expiry could not be revoked.
    if (typeof exp !== "number") throw new Error(unauthorized);
    return {
      principalId: sub,
      policyDocument: {
        Version: "2012-10-17",
        Statement: [{ Action: "execute-api:Invoke", Effect: "Allow", Resource: wholeApi(methodArn) }],
      },
      // The gateway passes only texts.
      context: {
        groups: JSON.stringify(groupsIn(claims[groupsClaim])),
        issuer: iss,
        exp: String(exp),
        scope: groupsIn(claims["scope"] ?? claims["scp"]).join(" "),
      },
    };
  };
}

/** Maps `arn:…:api/stage/GET/path` to `arn:…:api/stage/*`. */
function wholeApi(methodArn: string): string {
  return `${methodArn.split("/").slice(0, 2).join("/")}/*`;
}

/** Reads groups from a list, as most providers send them, or from one text with blanks or commas. */
function groupsIn(claim: unknown): readonly string[] {
  if (typeof claim === "string") return claim.split(/[\s,]+/).filter((group) => group !== "");
  return Array.isArray(claim) ? claim.filter((group) => typeof group === "string") : [];
}
