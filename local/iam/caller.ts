import { account } from "../account";
import { ServiceError } from "../wire";
import type { RequestContext } from "./conditions";
import type { Session } from "./keys";
import { type Access, compilePolicy, decide, type Policy, type Role } from "./policy";

/** The caller may not do this. Each service reports it with its own message (see `AccessDenied.message`). */
export class AccessDenied extends ServiceError {
  override readonly name = "AccessDenied";

  constructor(caller: string, { action, resource }: Access, why: string) {
    super(
      "AccessDeniedException",
      403,
      `User: ${caller} is not authorized to perform: ${action}${resource === "*" ? "" : ` on resource: ${resource}`} because ${why}`,
    );
  }
}

export const userIdOf = (sessionName: string): string => `AROA:${sessionName}`;

/**
 * A caller with temporary keys: a function, a job, or a run's trainers. The owner is not a `Caller`, because the owner
 * may do everything.
 */
export class Caller {
  readonly arn: string;
  /** The value of `aws:userid` in conditions. */
  readonly userId: string;
  readonly role: Role;
  private readonly policies: readonly Policy[];
  private readonly onAccess: ((access: Access, caller: Caller) => void) | undefined;

  constructor(role: Role, session: Session, onAccess?: (access: Access, caller: Caller) => void) {
    this.role = role;
    this.userId = userIdOf(session.name);
    this.arn = `arn:aws:sts::${account}:assumed-role/${role.name}/${session.name}`;
    this.policies = [
      role.policy,
      ...(role.boundary ? [role.boundary] : []),
      ...(session.policy ? [compilePolicy(session.policy)] : []),
    ];
    this.onAccess = onAccess;
  }

  may(access: Access): boolean {
    return this.decide(access).allowed;
  }

  private decide(access: Access): ReturnType<typeof decide> {
    const context = (): RequestContext => ({ ...access.context?.(), "aws:userid": this.userId });
    return decide(this.policies, { ...access, context });
  }

  /**
   * Checks that the caller may do this.
   * @throws AccessDenied
   */
  authorize(access: Access): void {
    this.onAccess?.(access, this);
    const { allowed, denied } = this.decide(access);
    if (allowed) return;
    const why = denied
      ? `a policy denies the ${access.action} action explicitly`
      : `no policy of its role${this.policies.length > 1 ? " and session" : ""} allows the ${access.action} action`;
    throw new AccessDenied(this.arn, access, why);
  }
}
