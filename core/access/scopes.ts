import { InsufficientScopeError } from "./errors";

/**
 * The operations that a token permits. `read`: operations that change nothing. `approve`: decisions on what serves
 * (approvals, stages, rollbacks, policies, traffic) and the keys that sign a policy's hooks. `write`: every other
 * change.
 */
export const scopes = ["read", "write", "approve"] as const;
export type Scope = (typeof scopes)[number];

/** The scopes of a token that is created without `--scope`: enough for programs that train and log. */
export const defaultScopes: readonly Scope[] = ["read", "write"];

/** Returns the known scopes of a list. Other scopes, such as OpenID Connect's own, are ignored. */
export function knownScopes(names: readonly string[]): readonly Scope[] {
  return scopes.filter((scope) => names.includes(scope));
}

/**
 * Throws unless the scope is granted.
 *
 * @param granted `undefined` if the caller's credentials have no scopes: IAM, and tokens that name none of this API's
 * scopes
 * @throws InsufficientScopeError
 */
export function requireScope(
  caller: { readonly actor: string; readonly granted: readonly Scope[] | undefined },
  operation: string,
  required: Scope,
): void {
  if (caller.granted === undefined || caller.granted.includes(required)) return;
  throw new InsufficientScopeError(caller.actor, operation, required, caller.granted);
}
