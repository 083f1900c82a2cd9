import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from "aws-lambda";

/** Claims of a token whose signature, issuer, audience and times are right; rejects where one is not. */
export type Verify = (token: string) => Promise<Readonly<Record<string, unknown>>>;

/** By these words, exactly, API Gateway knows a refusal (401) from a failure of the authorizer (500). */
const unauthorized = "Unauthorized";

/**
 * Answers the gateway's question who calls. The gateway keeps the answer for some minutes for each token, whatever the caller asks for next, so it
 * speaks of the whole API: what a caller may do there is a matter of its team. The functions check `exp` with every request.
 *
 * @throws Error "Unauthorized" where the token is not good; any other error where that could not be found out
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
    // A token that never expires could not be taken back.
    if (typeof exp !== "number") throw new Error(unauthorized);
    return {
      principalId: sub,
      policyDocument: {
        Version: "2012-10-17",
        Statement: [{ Action: "execute-api:Invoke", Effect: "Allow", Resource: wholeApi(methodArn) }],
      },
      // Texts only: nothing else passes the gateway.
      context: {
        groups: JSON.stringify(groupsIn(claims[groupsClaim])),
        issuer: iss,
        exp: String(exp),
        scope: groupsIn(claims["scope"] ?? claims["scp"]).join(" "),
      },
    };
  };
}

/** `arn:…:api/stage/GET/path` → `arn:…:api/stage/*`. */
function wholeApi(methodArn: string): string {
  return `${methodArn.split("/").slice(0, 2).join("/")}/*`;
}

/** A list, as most providers have it, or one text with blanks or commas between. */
function groupsIn(claim: unknown): readonly string[] {
  if (typeof claim === "string") return claim.split(/[\s,]+/).filter((group) => group !== "");
  return Array.isArray(claim) ? claim.filter((group) => typeof group === "string") : [];
}
