import type { IncomingHttpHeaders } from "node:http";
import type { TokenStore } from "../adapters/files/token-store";
import { UnauthenticatedError } from "../core/access/errors";
import { defaultTeam, tokenPersonId } from "../core/access/principals";
import { isExpired, type TokenRecord } from "../core/access/tokens";
import { sha256 } from "../core/digest";
import {
  checkClaim,
  isSignature,
  readClaim,
  type SignatureClaim,
  type SignedRequest,
  signatureMatches,
} from "../local";

/** The context that a Lambda authorizer passes to the function behind it. */
export interface AuthorizerContext {
  readonly principalId: string;
  readonly team: string;
  /** Undefined if the API requires no tokens. The caller then chooses its own name. */
  readonly person?: string;
  /** The scopes, separated by spaces. */
  readonly scopes?: string;
  /** The time when the token expires, in seconds since the epoch. */
  readonly exp?: string;
}

export interface Authenticated {
  readonly context: AuthorizerContext;
  /** The SHA-256 that the signature covers. The caller of `authenticate` must check the body against it. */
  readonly payload?: string;
}

/**
 * Authenticates the caller of a request. Without required tokens, callers choose their name and team, and none is
 * authenticated as a person. With required tokens, the token determines both. A token is sent as a bearer token, as the
 * password of basic authentication, or by a signature (Signature Version 4, service `execute-api`) with the token's key
 * pair.
 *
 * @param body returns the whole body, or `undefined` if it is too large. It is called only if the signature does not
 * state its digest.
 * @throws UnauthenticatedError
 */
export async function authenticate(
  tokens: TokenStore,
  request: SignedRequest,
  body: () => Promise<Uint8Array | undefined>,
  now: number,
): Promise<Authenticated> {
  const { headers } = request;
  if (!(await tokens.required())) {
    return {
      context: {
        principalId: headerOf(headers, "x-ringmaster-actor") ?? "anonymous",
        team: headerOf(headers, "x-ringmaster-team") ?? defaultTeam,
      },
    };
  }
  if (isSignature(headers.authorization)) return verifySignature(tokens, request, body, now);
  const token = presentedToken(headers.authorization);
  if (token === undefined) throw new UnauthenticatedError("this API requires a token");
  const record = await tokens.verify(token);
  if (!record) throw new UnauthenticatedError("the token is invalid or was revoked");
  return { context: contextOf(record, now) };
}

/** Verifies a signature. An unknown key and a wrong signature get the same error, so that nobody can probe for keys. */
async function verifySignature(
  tokens: TokenStore,
  request: SignedRequest,
  body: () => Promise<Uint8Array | undefined>,
  now: number,
): Promise<Authenticated> {
  const claim = readClaim(request);
  if ("kind" in claim) throw new UnauthenticatedError(claim.message);
  const problem = checkClaim(request, claim, now)?.message ?? problemOf(claim);
  if (problem !== undefined) throw new UnauthenticatedError(problem);
  const signer = await tokens.signer(claim.accessKeyId);
  const payload = claim.payload ?? (await digestOf(body));
  if (!signer || !(await signatureMatches(request, claim, payload, signer.secretAccessKey, "lenient"))) {
    throw new UnauthenticatedError(
      "the signature does not match the key pair of a token, or the token was revoked (`ringmaster tokens keys ID` shows the key pair)",
    );
  }
  return { context: contextOf(signer.record, now), payload };
}

/**
 * Builds the authorizer context of a token.
 * @throws UnauthenticatedError if the token has expired
 */
function contextOf(record: TokenRecord, now: number): AuthorizerContext {
  const { id, actor, team, scopes, expiresAt } = record;
  if (isExpired(record, now)) throw new UnauthenticatedError(`token ${id} of ${actor} expired at ${expiresAt}`);
  return {
    ...{ principalId: actor, team, person: tokenPersonId(actor) },
    ...(scopes === undefined ? {} : { scopes: scopes.join(" ") }),
    ...(expiresAt === undefined ? {} : { exp: String(Date.parse(expiresAt) / 1_000) }),
  };
}

/** Returns how a signature breaks the API's own rules: its service name, and the signature must cover the body. */
function problemOf({ scope, payload, presigned }: SignatureClaim): string | undefined {
  if (presigned) return "the API does not accept presigned URLs: sign the request in the Authorization header";
  if (scope[2] !== "execute-api") return `the request is signed for ${scope[2]}: sign it for execute-api`;
  if (payload === undefined || /^[0-9a-f]{64}$/.test(payload)) return undefined;
  return "x-amz-content-sha256 must be the body's SHA-256, because an unsigned body is not accepted";
}

async function digestOf(body: () => Promise<Uint8Array | undefined>): Promise<string> {
  const whole = await body();
  if (!whole) throw new UnauthenticatedError("a body of this size must be signed with its x-amz-content-sha256");
  return sha256(whole);
}

function presentedToken(authorization: string | undefined): string | undefined {
  const [, scheme, value] = /^(bearer|basic)\s+(\S+)\s*$/i.exec(authorization ?? "") ?? [];
  if (scheme === undefined || value === undefined) return undefined;
  if (scheme.toLowerCase() === "bearer") return value;
  const credentials = Buffer.from(value, "base64").toString("utf8");
  return credentials.slice(credentials.indexOf(":") + 1);
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value)?.slice(0, 200) || undefined;
}
