import type { IncomingMessage } from "node:http";
import { type OwnerKeys, ownerKeysOf } from "../../adapters/files/owner-keys";
import type { World } from "../../core/platform/permissions";
import type { Clock } from "../../core/ports";
import { ServiceError } from "../wire";
import { Caller } from "./caller";
import { isTemporary, KeyMaker, type Session, type TemporaryKeys } from "./keys";
import type { Access } from "./policy";
import { platformRoles, type Role } from "./roles";

export { AccessDenied, Caller } from "./caller";
export { jobRoleName } from "./roles";

export interface IamOptions {
  readonly world: World;
  /** What seals keys: whoever has it can make some. */
  readonly secret: string;
  readonly clock?: Clock;
  /** Told of every access that somebody with temporary keys asks for, before it is decided. */
  readonly onAccess?: (access: Access, caller: Caller) => void;
}

/** Callers that are known already: reading a session's policy takes a hundred times as long as asking it. */
const remembered = 1_000;

/**
 * IAM on one machine: temporary keys stand for a role of the platform, and may do what its policies allow; any other key is a person's, and may
 * do everything. Signatures are not verified: this keeps honest programs to what they would be kept to on AWS, and stops nobody who owns
 * the machine.
 */
export class Iam {
  readonly roles: ReadonlyMap<string, Role>;
  /** The keys of the machine's owner, who may do everything. */
  readonly owner: OwnerKeys;
  readonly #keys: KeyMaker;
  readonly #options: IamOptions;
  readonly #callers = new Map<string, { readonly caller: Caller; readonly session: Session }>();

  constructor(options: IamOptions) {
    this.#options = options;
    this.roles = platformRoles(options.world);
    this.owner = ownerKeysOf(options.secret);
    this.#keys = new KeyMaker(options.secret);
  }

  get now(): number {
    return (this.#options.clock ?? Date).now();
  }

  /** @throws Error where there is no such role */
  issue(session: Session): TemporaryKeys {
    if (!this.roles.has(session.role)) throw new Error(`The platform has no role ${session.role}.`);
    return this.#keys.issue(session);
  }

  /** What a process's environment holds of keys. */
  environmentOf(role: string, name: string): Readonly<Record<string, string>> {
    const { accessKeyId, secretAccessKey, sessionToken } = this.issue({ role, name });
    return {
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: sessionToken,
    };
  }

  /**
   * Who signed a request; undefined for a person.
   * @throws ServiceError where the keys are none that this stack gave out, or are over
   */
  callerOf(request: Pick<IncomingMessage, "headers" | "url">): Caller | undefined {
    const { accessKeyId, token } = keysOf(request);
    if (accessKeyId === undefined || !isTemporary(accessKeyId)) return undefined;
    const known = this.#callers.get(token) ?? this.#read(accessKeyId, token);
    if (known.session.expiresAt !== undefined && known.session.expiresAt <= this.now) {
      throw new ServiceError("ExpiredTokenException", 400, "The security token included in the request is expired");
    }
    return known.caller;
  }

  #read(accessKeyId: string, token: string) {
    const session = this.#keys.read(accessKeyId, token);
    const role = session && this.roles.get(session.role);
    if (!session || !role) {
      const message = "The security token included in the request is invalid.";
      throw new ServiceError("UnrecognizedClientException", 403, message);
    }
    const known = { session, caller: new Caller(role, session, this.#options.onAccess) };
    if (this.#callers.size >= remembered) this.#callers.clear();
    this.#callers.set(token, known);
    return known;
  }
}

function keysOf({ headers, url }: Pick<IncomingMessage, "headers" | "url">) {
  const signed = /Credential=([^/,\s]+)\//.exec(headers.authorization ?? "")?.[1];
  const token = headers["x-amz-security-token"];
  if (signed !== undefined) return { accessKeyId: signed, token: typeof token === "string" ? token : "" };
  if (!url?.includes("X-Amz-Credential=")) return { accessKeyId: undefined, token: "" };
  const query = new URLSearchParams(url.split("?")[1]);
  return {
    accessKeyId: query.get("X-Amz-Credential")?.split("/")[0],
    token: query.get("X-Amz-Security-Token") ?? "",
  };
}
