import { JwtVerifier } from "aws-jwt-verify";
import {
  FailedAssertionError,
  JwtInvalidSignatureError,
  JwtParseError,
  JwtWithoutValidKidError,
  KidNotFoundInJwksError,
  ParameterValidationError,
  WaitPeriodNotYetEndedJwkError,
} from "aws-jwt-verify/error";
import { SimpleJwksCache } from "aws-jwt-verify/jwk";
import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from "aws-lambda";
import type { AuthorizerConfig } from "../../platform/config/settings";

/** Returns the claims of a token with valid signature, issuer, audience and times; rejects if one is invalid. */
type Verify = (token: string) => Promise<Readonly<Record<string, unknown>>>;

/** With exactly this message, API Gateway distinguishes a refusal (401) from a failure of the authorizer (500). */
const unauthorized = "Unauthorized";

/**
 * Identifies the caller for the gateway. The gateway caches the result for some minutes for each token, whatever the
 * caller requests next, so the result covers the whole API; the team determines what a caller may do there. The
 * functions check `exp` with every request.
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

/** Time limit of a provider. API Gateway waits at most 29 s for an authorizer. */
const providerTimeoutMs = 5_000;

/**
 * Creates a verifier that uses the keys that the issuer publishes. Their location is discovered once in each process
 * (OpenID Connect Discovery 1.0). Keys are fetched again when a token names an unknown one, so that rotation needs no
 * action.
 */
export function createVerifier({ issuer, audience }: AuthorizerConfig, send: typeof fetch = fetch): Verify {
  let verifier: Promise<{ verify(token: string): Promise<object> }> | undefined;

  async function get(url: string): Promise<Response> {
    const response = await send(url, { signal: AbortSignal.timeout(providerTimeoutMs) });
    if (!response.ok) throw new Error(`${url} answered ${response.status}`);
    return response;
  }

  async function discover() {
    const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
    const discovery = (await (await get(url)).json()) as { readonly issuer?: unknown; readonly jwks_uri?: unknown };
    // Otherwise this server could issue tokens for another issuer.
    if (discovery.issuer !== issuer)
      throw new Error(`${url} is of issuer ${JSON.stringify(discovery.issuer)}, not ${issuer}`);
    if (typeof discovery.jwks_uri !== "string" || !discovery.jwks_uri.startsWith("https://")) {
      throw new Error(`${url} has no jwks_uri of https`);
    }
    const jwksCache = new SimpleJwksCache({ fetcher: { fetch: async (uri) => (await get(uri)).arrayBuffer() } });
    return JwtVerifier.create({ issuer, audience, jwksUri: discovery.jwks_uri, graceSeconds: 30 }, { jwksCache });
  }

  return async (token) => {
    verifier ??= discover().catch((error: unknown) => {
      verifier = undefined;
      throw error;
    });
    const ready = await verifier;
    try {
      return { ...(await ready.verify(token)) };
    } catch (error) {
      // The error is about the token; any other error is ours or the provider's.
      if (isOfToken(error)) throw new Error("Unauthorized");
      throw error;
    }
  };
}

/** Includes an unknown key: the cache fetches keys once and then waits a while. */
const ofToken = [
  FailedAssertionError,
  JwtInvalidSignatureError,
  JwtParseError,
  JwtWithoutValidKidError,
  KidNotFoundInJwksError,
  ParameterValidationError,
  WaitPeriodNotYetEndedJwkError,
];

function isOfToken(error: unknown): boolean {
  return ofToken.some((kind) => error instanceof kind);
}
