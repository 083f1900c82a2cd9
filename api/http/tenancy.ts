import type { MiddlewareHandler } from "hono";
import type { Deployment } from "../../adapters/platform";
import { UnauthenticatedError } from "../../core/access/errors";
import { type Caller, chooseTeam, type TeamMembers } from "../../core/access/membership";
import { checkTeamName, defaultTeam } from "../../core/access/teams";
import { callerOf } from "./caller";
import type { ApiEnvironment } from "./context";

/** By which a caller in several teams says for which one it calls. */
export const teamHeader = "x-ringmaster-team";

/** What is the same for everyone, known or not: whether it is well, and how it is called. */
export const teamless: ReadonlySet<string> = new Set([
  "/api/v1/health",
  "/api/v1/openapi.json",
  "/api/v1/docs",
  // MLflow's.
  "/",
  "/health",
  "/version",
]);

/** How the deployment tells callers apart. */
export interface CallerSettings {
  /** Members of teams; while no team has members, everyone is of the default one. */
  readonly directory?: readonly TeamMembers[];
  /** Patterns of IAM roles whose session name is a person's, set by the identity provider. */
  readonly personalRoles?: readonly string[];
}

/** Finds who calls and for which team, and hands the routes that team's platform: there is no other way to one. */
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
    const asked = header(teamHeader);
    const event = context.env?.event;
    // Without a gateway's event it is this process itself that calls, whose word is good.
    const caller: Caller = event
      ? callerOf(event.requestContext, personalRoles)
      : ownCaller(header("x-ringmaster-actor") ?? "anonymous", asked);
    // The gateway may answer from its cache: what it remembers of a token must not outlive the token.
    if (caller.expiresAt !== undefined && !(deployment.clock.now() < caller.expiresAt)) {
      throw new UnauthenticatedError(`the token of ${caller.actor} expired${whenOf(caller.expiresAt)}`);
    }
    const team = checkTeamName(chooseTeam(caller, directory, asked), teamHeader);
    const logger = deployment.logger.with({ requestId: context.get("requestId"), team });
    context.set("actor", caller.actor);
    context.set("person", caller.person);
    context.set("scopes", caller.scopes);
    context.set("platform", { ...deployment.forTeam(team), logger });
    await next();
  };
}

/** An expiry that cannot be read permits nothing. */
function whenOf(expiresAt: number): string {
  return Number.isFinite(expiresAt) ? ` at ${new Date(expiresAt).toISOString()}` : "";
}

/** A caller within this process. */
function ownCaller(actor: string, team: string = defaultTeam): Caller {
  return { actor, person: { id: `process:${actor}`, names: [actor] }, principals: [], groups: [], team };
}
