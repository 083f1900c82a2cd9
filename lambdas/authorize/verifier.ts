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
import type { AuthorizerConfig } from "../../platform/config/authorizer";
import type { Verify } from "./authorize";

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
    const found = (await (await get(url)).json()) as { readonly issuer?: unknown; readonly jwks_uri?: unknown };
    // Otherwise this server could issue tokens for another issuer.
    if (found.issuer !== issuer) throw new Error(`${url} is of issuer ${JSON.stringify(found.issuer)}, not ${issuer}`);
    if (typeof found.jwks_uri !== "string" || !found.jwks_uri.startsWith("https://")) {
      throw new Error(`${url} has no jwks_uri of https`);
    }
    const jwksCache = new SimpleJwksCache({ fetcher: { fetch: async (uri) => (await get(uri)).arrayBuffer() } });
    return JwtVerifier.create({ issuer, audience, jwksUri: found.jwks_uri, graceSeconds: 30 }, { jwksCache });
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
