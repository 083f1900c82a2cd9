import { ownerKeysOf } from "../adapters/files/owner-keys";
import { compilePolicy, Iam, type IamOptions, type Policy, type Role, unionOf } from "../local";
import { functionNameIn, functions } from "../platform/functions";
import {
  type FunctionPermissions,
  jobPermissions,
  type Permission,
  policyOf,
  runRoleNameIn,
  runRolePermissions,
  type World,
} from "../platform/permissions";

export const jobRoleName = (prefix: string): string => `${prefix}-trainer-job`;

export function rolePermissions(
  world: World,
  functionPermissions: FunctionPermissions | undefined,
): ReadonlyMap<string, readonly Permission[]> {
  const { prefix } = world;
  return new Map([
    ...functions.map(({ name }) => [functionNameIn(prefix, name), functionPermissions?.[name] ?? []] as const),
    [jobRoleName(prefix), jobPermissions],
    [runRoleNameIn(world), runRolePermissions],
  ]);
}

/** Returns the roles of the platform, with the permissions that `infra/` deploys. */
function platformRoles(world: World, functionPermissions: FunctionPermissions | undefined): ReadonlyMap<string, Role> {
  const runRole = runRoleNameIn(world);
  const roles = [...rolePermissions(world, functionPermissions)].map(([name, permissions]): Role => {
    const deployed = compilePolicy(policyOf(permissions, world));
    const inline = new Map<string, Policy>();
    const role = { name, trusts: [], inline, policy: unionOf(() => [deployed, ...inline.values()]) };
    if (name !== runRole) return role;
    return { ...role, trusts: [functionNameIn(world.prefix, "run-credentials")], boundary: deployed };
  });
  return new Map(roles.map((one) => [one.name, one]));
}

export interface PlatformIamOptions extends Pick<IamOptions, "clock" | "onAccess"> {
  readonly world: World;
  /** Without it, the roles of functions may do nothing. */
  readonly functionPermissions?: FunctionPermissions;
  /** The secret from which all keys are derived, see `stackSecret`. */
  readonly secret: string;
}

/** Creates IAM with the platform's roles and the owner's keys. */
export function createIam({ world, functionPermissions, ...options }: PlatformIamOptions): Iam {
  return new Iam({ ...options, roles: platformRoles(world, functionPermissions), owner: ownerKeysOf(options.secret) });
}
