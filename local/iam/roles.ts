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
import { compilePolicy, type Policy } from "./policy";

export interface Role {
  readonly name: string;
  readonly policy: Policy;
  /** Names of the roles that may assume it. */
  readonly trusts: readonly string[];
}

export const jobRoleName = (prefix: string): string => `${prefix}-trainer-job`;

/** The roles of the platform, of the description that `infra/` deploys. */
export function platformRoles(world: World): ReadonlyMap<string, Role> {
  const { prefix } = world;
  const role = (name: string, permissions: readonly Permission[], trusts: readonly string[] = []): Role => ({
    name,
    policy: compilePolicy(policyOf(permissions, world)),
    trusts,
  });
  const roles = [
    // A function's role has its name here; CloudFormation gives them names of its own.
    ...functions.map(({ name }) => role(functionNameIn(prefix, name), functionPermissions[name])),
    role(jobRoleName(prefix), jobPermissions),
    role(runRoleNameIn(world), runRolePermissions, [functionNameIn(prefix, "run-credentials")]),
  ];
  return new Map(roles.map((one) => [one.name, one]));
}
