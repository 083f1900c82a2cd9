import type { MiddlewareHandler } from "hono";
import type { Deployment } from "../../adapters/platform";
import { UnauthenticatedError } from "../../core/access/errors";
import { type Caller, chooseTeam, type TeamMembers } from "../../core/access/membership";
import { checkTeamName, defaultTeam } from "../../core/access/principals";
import { callerOf } from "./caller";
import type { ApiEnvironment } from "./context";

/** Header by which a caller in several teams names one. */
export const teamHeader = "x-ringmaster-team";

/** Paths that are the same for every caller, authenticated or not: the health check and the API's description. */
export const teamless: ReadonlySet<string> = new Set([
  "/api/v1/health",
  "/api/v1/openapi.json",
  "/api/v1/docs",
  // Start page for MLflow's links.
  "/",
  "/health",
  "/version",
]);

/** Settings by which the deployment identifies callers. */
export interface CallerSettings {
  /** Members of teams. If no team has members, every caller is in the default team. */
  readonly directory?: readonly TeamMembers[];
  /** Patterns of IAM roles whose session name is a person's, set by the identity provider. */
  readonly personalRoles?: readonly string[];
}

/**
 * Determines the caller and its team, and provides that team's platform to the routes. No other code provides a
 * platform.
 */
export function tenancy(
  deployment: Deployment,
  { directory = [], personalRoles = [] }: CallerSettings,
): MiddlewareHandler<ApiEnvironment> {
  return async (context, next) => {
    if (teamless.has(context.req.path)) {
      context.set("actor", "anonymous");
      context.set("person", undefined);
      context.set("scopes", undefined);
      context.set("platform", deployment.forTeam(defaultTeam));
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

/** Returns a caller within this process. */
function ownCaller(actor: string, team: string = defaultTeam): Caller {
  return { actor, person: { id: `process:${actor}`, names: [actor] }, principals: [], groups: [], team };
}
