/** Permissions: `infra/` makes roles of them, and the embedded cloud enforces them. */
export { endedRunsPolicy, endedRunsPolicyName } from "./ended-runs";
export {
  type Conditions,
  type FunctionPermissions,
  functionPermissionsFile,
  type Permission,
  type PolicyDocument,
  type PolicyStatement,
  policyOf,
} from "./grants";
export {
  bucketKeyActions,
  evaluationPolicy,
  jobPermissions,
  maxSessionPolicy,
  runRolePermissions,
  sessionPolicy,
} from "./trainer";
export { arnsOf, type Resource, runRoleNameIn, type World } from "./world";
