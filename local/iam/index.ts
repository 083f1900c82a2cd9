import { BoundedMap } from "../bounded-map";
import type { Time } from "../clock";
import type { SignatureClaim } from "../sigv4/claim";
import { Caller } from "./caller";
import { type IssuedKeys, KeyMaker, type Session, type TemporaryKeys } from "./keys";
import type { Access, Role } from "./policy";
import { SignatureError } from "./signature-error";

export { AccessDenied, Caller } from "./caller";

export interface IamOptions {
  readonly roles: ReadonlyMap<string, Role>;
  /** The keys of the machine's owner, who may do everything. */
  readonly owner: Pick<TemporaryKeys, "accessKeyId" | "secretAccessKey">;
  /** The secret that signs keys. Its owner can create keys. */
  readonly secret: string;
  readonly clock?: Time;
  /** Called for each access that a caller with temporary keys asks for, before it is decided. */
  readonly onAccess?: (access: Access, caller: Caller) => void;
}

const maxCallers = 100;

export interface Identity {
  readonly secretAccessKey: string;
  readonly caller?: Caller;
}

interface Known extends IssuedKeys {
  readonly accessKeyId: string;
  readonly caller: Caller;
}

/**
 * IAM for one machine. Temporary keys represent a role of the platform and may do what the role's policies allow. The
 * owner's keys may do everything. No other keys exist.
 */
export class Iam {
  readonly roles: IamOptions["roles"];
  readonly owner: IamOptions["owner"];
  private readonly keys: KeyMaker;
  private readonly options: IamOptions;
  private readonly callers = new BoundedMap<string, Known>(maxCallers);

  constructor(options: IamOptions) {
    this.options = options;
    this.roles = options.roles;
    this.owner = options.owner;
    this.keys = new KeyMaker(options.secret);
  }

  get now(): number {
    return (this.options.clock ?? Date).now();
  }

  /**
   * Issues temporary keys.
   * @throws Error if the role does not exist
   */
  issue(session: Session): TemporaryKeys {
    if (!this.roles.has(session.role)) throw new Error(`The platform has no role ${session.role}.`);
    return this.keys.issue(session);
  }

  environmentOf(role: string, name: string): Readonly<Record<string, string>> {
    const { accessKeyId, secretAccessKey, sessionToken } = this.issue({ role, name });
    return {
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: sessionToken,
    };
  }

  /**
   * Returns the secret of the keys that a request claims to use, and their caller, which is `undefined` for the owner.
   * @throws SignatureError if this stack did not issue the keys or they have expired
   */
  identify({ accessKeyId, sessionToken = "" }: Pick<SignatureClaim, "accessKeyId" | "sessionToken">): Identity {
    if (accessKeyId === this.owner.accessKeyId) return { secretAccessKey: this.owner.secretAccessKey };
    const called = this.callers.get(sessionToken);
    const { session, secretAccessKey, caller } =
      called?.accessKeyId === accessKeyId ? called : this.read(accessKeyId, sessionToken);
    if (session.expiresAt !== undefined && session.expiresAt <= this.now) {
      throw new SignatureError("expired-token", "The security token included in the request is expired");
    }
    return { secretAccessKey, caller };
  }

  private read(accessKeyId: string, token: string): Known {
    const issued = this.keys.read(accessKeyId, token);
    const role = issued && this.roles.get(issued.session.role);
    if (!issued || !role) {
      throw new SignatureError(
        "unknown-key",
        "The security token included in the request is invalid: this stack did not issue the access key (`ringmaster env` prints the owner's).",
      );
    }
    const identified = { ...issued, accessKeyId, caller: new Caller(role, issued.session, this.options.onAccess) };
    this.callers.set(token, identified);
    return identified;
  }
}
