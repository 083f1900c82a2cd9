import type { FunctionName } from "../functions";
import { arnsOf, type Resource, type World } from "./world";

/** The subset of an IAM policy that this platform writes. */
export interface PolicyDocument {
  readonly Version: "2012-10-17";
  readonly Statement: readonly PolicyStatement[];
}

export interface PolicyStatement {
  readonly Effect: "Allow" | "Deny";
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
  readonly Condition?: Conditions;
}

/** Operator → condition key → values. All keys must match; for each key one value is enough. */
export type Conditions = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;

/** Permitted actions on resources. */
export interface Permission {
  readonly resource: Resource;
  /** `dynamodb:GetItem`, …; never with a wildcard. */
  readonly actions: readonly string[];
}

/** Permissions of the role of each function. The build collects it from the handlers' ports (`lambdas/permissions.ts`). */
export type FunctionPermissions = Readonly<Record<FunctionName, readonly Permission[]>>;

/** Name of the file with `FunctionPermissions` in the directory of the bundles. */
export const functionPermissionsFile = "permissions.json";

function statementsOf(permissions: readonly Permission[], world: World): readonly PolicyStatement[] {
  return permissions.map(({ resource, actions }) => ({
    Effect: "Allow",
    Action: actions,
    Resource: arnsOf(resource, world),
  }));
}

export function policyOf(permissions: readonly Permission[], world: World): PolicyDocument {
  return { Version: "2012-10-17", Statement: statementsOf(permissions, world) };
}
