import type { APIGatewayProxyEvent } from "aws-lambda";
import type { Caller } from "../../core/access/membership";

type RequestContext = Partial<Pick<APIGatewayProxyEvent["requestContext"], "identity" | "authorizer">>;

/**
 * Who calls, from what the gateway found out, and from nothing that the caller could have written:
 *
 * - IAM: `identity.userArn`, and `identity.caller` (the unique id, which survives no deletion of the principal);
 * - Cognito: `authorizer.claims`;
 * - a Lambda authorizer, ours for OIDC or the local gateway: `authorizer.principalId`, `.groups`, `.team`, all of them texts.
 */
export function callerOf({ identity, authorizer }: RequestContext): Caller {
  if (authorizer) {
    const claims = recordOf(authorizer["claims"]);
    const read = (name: string): string | undefined => textOf(authorizer[name]) ?? textOf(claims[name]);
    const team = textOf(authorizer["team"]);
    return {
      actor: read("principalId") ?? read("email") ?? read("cognito:username") ?? read("sub") ?? "anonymous",
      principals: [],
      groups: [authorizer, claims].flatMap((from) => [...listOf(from["cognito:groups"]), ...listOf(from["groups"])]),
      ...(team === undefined ? {} : { team }),
    };
  }
  const arn = textOf(identity?.userArn);
  const id = textOf(identity?.caller);
  return {
    actor: arn ?? id ?? "anonymous",
    principals: [arn, id].filter((principal) => principal !== undefined),
    groups: [],
  };
}

/** A Lambda authorizer's context has texts only: claims come as JSON from there, as an object from Cognito's authorizer. */
function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  const parsed = typeof value === "string" ? parse(value) : value;
  return parsed !== null && typeof parsed === "object" ? (parsed as Record<string, unknown>) : {};
}

/** Groups as a list, as JSON, as `a,b` (Cognito behind a REST API) or as `[a b]` (JWTs behind an HTTP API). */
function listOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.filter((item) => typeof item === "string");
  const text = textOf(value)?.trim();
  if (text === undefined) return [];
  const json = parse(text);
  if (Array.isArray(json)) return listOf(json);
  const bracketed = /^\[(.*)\]$/s.exec(text);
  const items = bracketed ? bracketed[1].split(/[\s,]+/) : text.split(",");
  return items.map((item) => item.trim()).filter((item) => item !== "");
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
