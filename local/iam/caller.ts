import { account } from "../service";
import { ServiceError } from "../wire";
import type { Session } from "./keys";
import { type Access, compilePolicy, decide, type Policy } from "./policy";
import type { Role } from "./roles";

/** The caller may not do this. Each service answers it in its own words; see `AccessDenied.message`. */
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

/** Somebody with temporary keys: a function, a job, or a run's trainers. People are not `Caller`s: they may do everything. */
export class Caller {
  readonly arn: string;
  /** The run's id, for a session of a run's trainers. */
  readonly sessionName: string;
  readonly role: Role;
  readonly #policies: readonly Policy[];
  readonly #onAccess: ((access: Access, caller: Caller) => void) | undefined;

  constructor(role: Role, session: Session, onAccess?: (access: Access, caller: Caller) => void) {
    this.role = role;
    this.sessionName = session.name;
    this.arn = `arn:aws:sts::${account}:assumed-role/${role.name}/${session.name}`;
    this.#policies = [role.policy, ...(session.policy ? [compilePolicy(session.policy)] : [])];
    this.#onAccess = onAccess;
  }

  may(access: Access): boolean {
    return decide(this.#policies, access).allowed;
  }

  /** @throws AccessDenied */
  authorize(access: Access): void {
    this.#onAccess?.(access, this);
    const { allowed, denied } = decide(this.#policies, access);
    if (allowed) return;
    const why = denied
      ? `a policy denies the ${access.action} action explicitly`
      : `no policy of its role${this.#policies.length > 1 ? " and session" : ""} allows the ${access.action} action`;
    throw new AccessDenied(this.arn, access, why);
  }
}
