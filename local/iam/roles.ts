import { functionNameIn, functions } from "../../platform/functions";
import {
  type FunctionPermissions,
  jobPermissions,
  type Permission,
  policyOf,
  runRoleNameIn,
  runRolePermissions,
  type World,
} from "../../platform/permissions";
import { compilePolicy, type Policy, unionOf } from "./policy";

export interface Role {
  readonly name: string;
  /** All policies of the role together. */
  readonly policy: Policy;
  /** The names of the roles that may assume it. */
  readonly trusts: readonly string[];
  /** The maximum rights of the role, whatever its policies allow. */
  readonly boundary?: Policy;
  /** The policies that were put after the deployment, by name. */
  readonly inline: Map<string, Policy>;
}

export const jobRoleName = (prefix: string): string => `${prefix}-trainer-job`;

/** Returns the permissions of each role of the platform, by the role's name. */
export function rolePermissions(
  world: World,
  functionPermissions: FunctionPermissions | undefined,
): ReadonlyMap<string, readonly Permission[]> {
  const { prefix } = world;
  return new Map([
    // A function's role has its name here; CloudFormation gives them names of its own.
    ...functions.map(({ name }) => [functionNameIn(prefix, name), functionPermissions?.[name] ?? []] as const),
    [jobRoleName(prefix), jobPermissions],
    [runRoleNameIn(world), runRolePermissions],
  ]);
}

/** Returns the roles of the platform, with the permissions that `infra/` deploys. */
export function platformRoles(
  world: World,
  functionPermissions: FunctionPermissions | undefined,
): ReadonlyMap<string, Role> {
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
