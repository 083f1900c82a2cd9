import { functionNameIn, functions } from "../../platform/functions";
import {
  functionPermissions,
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

/** Returns the roles of the platform from the description that `infra/` deploys. */
export function platformRoles(world: World): ReadonlyMap<string, Role> {
  const { prefix } = world;
  const role = (name: string, permissions: readonly Permission[], trusts: readonly string[] = []): Role => {
    const deployed = compilePolicy(policyOf(permissions, world));
    const inline = new Map<string, Policy>();
    return { name, trusts, inline, policy: unionOf(() => [deployed, ...inline.values()]) };
  };
  const runRole = role(runRoleNameIn(world), runRolePermissions, [functionNameIn(prefix, "run-credentials")]);
  const roles = [
    // A function's role has the name of the function here. CloudFormation generates other names.
    ...functions.map(({ name }) => role(functionNameIn(prefix, name), functionPermissions[name])),
    role(jobRoleName(prefix), jobPermissions),
    { ...runRole, boundary: compilePolicy(policyOf(runRolePermissions, world)) },
  ];
  return new Map(roles.map((one) => [one.name, one]));
}
