import type { IncomingHttpHeaders } from "node:http";
import type { TokenStore } from "../adapters/files/token-store";
import { UnauthenticatedError } from "../core/access/errors";
import { defaultTeam } from "../core/platform/teams";

/** What a Lambda authorizer hands to the function behind it. */
export interface AuthorizerContext {
  readonly principalId: string;
  readonly team: string;
}

/**
 * The authorizer of one machine. Without tokens whoever reaches the loopback address is who he says, and of the team that he names. With
 * them a token says both; MLflow's clients may send it as the password of basic authentication.
 *
 * @throws UnauthenticatedError
 */
export async function authenticate(tokens: TokenStore, headers: IncomingHttpHeaders): Promise<AuthorizerContext> {
  if (!(await tokens.required())) {
    return {
      principalId: headerOf(headers, "x-ringmaster-actor") ?? "anonymous",
      team: headerOf(headers, "x-ringmaster-team") ?? defaultTeam,
    };
  }
  const token = presentedToken(headers.authorization);
  if (token === undefined) throw new UnauthenticatedError("this API asks for a token");
  const record = await tokens.verify(token);
  if (!record) throw new UnauthenticatedError("the token is not valid, or was revoked");
  return { principalId: record.actor, team: record.team };
}

function presentedToken(authorization: string | undefined): string | undefined {
  const [, scheme, value] = /^(bearer|basic)\s+(\S+)\s*$/i.exec(authorization ?? "") ?? [];
  if (value === undefined) return undefined;
  if (scheme.toLowerCase() === "bearer") return value;
  const credentials = Buffer.from(value, "base64").toString("utf8");
  return credentials.slice(credentials.indexOf(":") + 1);
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value)?.slice(0, 200) || undefined;
}
