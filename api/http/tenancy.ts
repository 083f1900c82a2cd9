import type { APIGatewayProxyEvent } from "aws-lambda";
import type { MiddlewareHandler } from "hono";
import type { Deployment } from "../../adapters/platform";
import { UnauthenticatedError } from "../../core/access/errors";
import { type Caller, chooseTeam, type TeamMembers } from "../../core/access/membership";
import { checkTeamName, defaultTeam, type Person, principalMatches } from "../../core/access/principals";
import { knownScopes } from "../../core/access/tokens";
import type { ApiEnvironment } from "./context";

type RequestContext = Partial<Pick<APIGatewayProxyEvent["requestContext"], "identity" | "authorizer">>;

/**
 * Reads the caller from the gateway's authentication: IAM's `identity.userArn` and `.caller` (the unique id), Cognito's
 * `authorizer.claims`, or a Lambda authorizer's `principalId`, `groups` and `team`.
 */
export function callerOf({ identity, authorizer }: RequestContext, personalRoles: readonly string[] = []): Caller {
  if (authorizer) {
    const claims = recordOf(authorizer["claims"]);
    const read = (name: string): string | undefined => textOf(authorizer[name]) ?? textOf(claims[name]);
    const team = textOf(authorizer["team"]);
    const person = tokenPerson(authorizer, claims);
    const verified = ["true", true].includes(claims["email_verified"] as string | boolean);
    const email = verified ? textOf(claims["email"]) : undefined;
    return {
      actor: read("principalId") ?? email ?? read("cognito:username") ?? read("sub") ?? "anonymous",
      ...(person ? { person } : {}),
      ...limitsOf(authorizer, claims),
      principals: [],
      groups: [authorizer, claims].flatMap((from) => [...listOf(from["cognito:groups"]), ...listOf(from["groups"])]),
      team,
    };
  }
  const arn = textOf(identity?.userArn);
  const id = textOf(identity?.caller) ?? textOf(identity?.user);
  const person = iamPerson(arn, id, personalRoles);
  return {
    actor: arn ?? id ?? "anonymous",
    ...(person ? { person } : {}),
    principals: [arn, id].filter((principal) => principal !== undefined),
    groups: [],
  };
}

/**
 * `person` of the local gateway, else issuer and `sub`: an e-mail address or user name may change, or get another user.
 */
function tokenPerson(
  authorizer: Readonly<Record<string, unknown>>,
  claims: Readonly<Record<string, unknown>>,
): Person | undefined {
  const name = textOf(authorizer["principalId"]);
  const local = textOf(authorizer["person"]);
  if (local !== undefined) return { id: local, names: name === undefined ? [] : [name] };
  const ours = textOf(authorizer["issuer"]);
  const [issuer, subject] = ours === undefined ? [textOf(claims["iss"]), textOf(claims["sub"])] : [ours, name];
  return issuer === undefined || subject === undefined ? undefined : { id: `${issuer}#${subject}`, names: [subject] };
}

/**
 * Another provider's token has scopes as `ringmaster/read` (or with `:` or `.`); one without any is not restricted.
 * `exp` is in seconds, or a date from Cognito's authorizer.
 */
function limitsOf(
  authorizer: Readonly<Record<string, unknown>>,
  claims: Readonly<Record<string, unknown>>,
): Pick<Caller, "scopes" | "expiresAt"> {
  const own = textOf(authorizer["scopes"]);
  const named = [authorizer["scope"], claims["scope"], claims["scp"]].flatMap((value) => {
    const names = typeof value === "string" ? value.split(/\s+/) : listOf(value);
    return names.flatMap((name) => /^ringmaster[/:.](\w+)$/.exec(name)?.[1] ?? []);
  });
  const granted = own === undefined ? (named.length === 0 ? undefined : named) : own.split(" ");
  const expiry = authorizer["exp"] ?? claims["exp"];
  return {
    ...(granted === undefined ? {} : { scopes: knownScopes(granted) }),
    ...(expiry === undefined ? {} : { expiresAt: timeOf(expiry) }),
  };
}

/** @returns milliseconds since the epoch; NaN where it cannot be read, which has passed */
function timeOf(expiry: unknown): number {
  const seconds = typeof expiry === "number" || /^\d+(?:\.\d+)?$/.test(String(expiry)) ? Number(expiry) : undefined;
  return seconds === undefined ? Date.parse(String(expiry)) : seconds * 1_000;
}

/**
 * The person behind an IAM principal. Callers choose session names, so all sessions of a role are one person, except in
 * personal roles. https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-unique-ids
 */
function iamPerson(
  arn: string | undefined,
  id: string | undefined,
  personalRoles: readonly string[],
): Person | undefined {
  const [, role, session] = /^(arn:[^:]*:sts::[^:]*:assumed-role\/[^/]+)\/(.+)$/.exec(arn ?? "") ?? [];
  if (role !== undefined && session !== undefined) {
    if (personalRoles.some((pattern) => principalMatches(pattern, arn!))) {
      return { id: `session:${session.toLowerCase()}`, names: [session] };
    }
    const iam = role.replace(":sts::", ":iam::").replace(":assumed-role/", ":role/");
    return { id: uniqueId(id) ?? role, names: [role, iam] };
  }
  const unique = uniqueId(id) ?? arn;
  if (unique === undefined) return undefined;
  const isFederated = arn?.includes(":federated-user/") ?? false;
  return { id: unique, names: arn === undefined || isFederated ? [] : [arn] };
}

function uniqueId(id: string | undefined): string | undefined {
  return id?.split(":", 1)[0] || undefined;
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
  const items = bracketed ? bracketed[1]!.split(/[\s,]+/) : text.split(",");
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

/** Header by which a caller in several teams names one. */
const teamHeader = "x-ringmaster-team";

/** Paths that are the same for every caller, authenticated or not: the health check and the API's description. */
const teamless: ReadonlySet<string> = new Set([
  "/api/v1/health",
  "/api/v1/openapi.json",
  "/api/v1/docs",
  // Start page for MLflow's links.
  "/",
  "/health",
  "/version",
]);

/** Requests to these paths are verified by a signature with a trigger's secret; the path names the team. */
const hookPath = /^\/api\/v1\/hooks\/([^/]+)\//;

/** Whether a path needs no token. */
export const isOpenPath = (path: string): boolean => teamless.has(path) || hookPath.test(path);

export interface CallerSettings {
  readonly directory?: readonly TeamMembers[];
  /** Patterns of IAM roles whose session name is a person's, set by the identity provider. */
  readonly personalRoles?: readonly string[];
}

/** Determines the caller and its team, and provides that team's platform to the routes. */
export function tenancy(
  deployment: Deployment,
  { directory = [], personalRoles = [] }: CallerSettings,
): MiddlewareHandler<ApiEnvironment> {
  return async (context, next) => {
    if (isOpenPath(context.req.path)) {
      const [, hookTeam] = hookPath.exec(context.req.path) ?? [];
      const team = hookTeam === undefined ? defaultTeam : checkTeamName(decodeURIComponent(hookTeam), "team");
      context.set("actor", "anonymous");
      context.set("person", undefined);
      context.set("scopes", undefined);
      context.set("platform", deployment.forTeam(team));
      await next();
      return;
    }
    const header = (name: string): string | undefined => context.req.header(name)?.slice(0, 200) || undefined;
    const requested = header(teamHeader);
    const event = context.env?.event;
    // Without a gateway's event, the caller is this process itself, which is trusted.
    const caller: Caller = event
      ? callerOf(event.requestContext, personalRoles)
      : ownCaller(header("x-ringmaster-actor") ?? "anonymous", requested);
    // The gateway may use its cache. A cached authorization must not outlive its token.
    if (caller.expiresAt !== undefined && !(deployment.clock.now() < caller.expiresAt)) {
      throw new UnauthenticatedError(`the token of ${caller.actor} expired${whenOf(caller.expiresAt)}`);
    }
    const team = checkTeamName(chooseTeam(caller, directory, requested), teamHeader);
    const logger = deployment.logger.with({ requestId: context.get("requestId"), team });
    context.set("actor", caller.actor);
    context.set("person", caller.person);
    context.set("scopes", caller.scopes);
    context.set("platform", { ...deployment.forTeam(team), logger });
    await next();
  };
}

/** An invalid expiry permits nothing. */
function whenOf(expiresAt: number): string {
  return Number.isFinite(expiresAt) ? ` at ${new Date(expiresAt).toISOString()}` : "";
}

function ownCaller(actor: string, team: string = defaultTeam): Caller {
  return { actor, person: { id: `process:${actor}`, names: [actor] }, principals: [], groups: [], team };
}
