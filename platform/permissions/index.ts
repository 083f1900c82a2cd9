/** The permissions: the description from which `infra/` creates roles and that the embedded cloud enforces. */
export { endedRunsPolicy, endedRunsPolicyName } from "./ended-runs";
export { functionPermissions } from "./functions";
export { type Conditions, type Permission, type PolicyDocument, type PolicyStatement, policyOf } from "./policy";
export { jobPermissions, runRolePermissions, sessionPolicy } from "./trainer";
export { arnsOf, type Resource, runRoleNameIn, type World } from "./world";
