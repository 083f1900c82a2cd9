import fs from "node:fs";
import path from "node:path";
import { Aws, Stack } from "aws-cdk-lib";
import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import {
  arnsOf,
  type FunctionPermissions,
  functionPermissionsFile,
  type Permission,
  type World,
} from "../platform/permissions";
import { bucketNameIn } from "./names";

/** Returns the deployment's names and CloudFormation's tokens, from which `platform/permissions` builds ARNs. */
export function worldOf(stack: Stack, prefix: string): World {
  return {
    partition: Aws.PARTITION,
    region: stack.region,
    account: stack.account,
    prefix,
    bucket: bucketNameIn(prefix),
  };
}

/** Reads what each function may do from the build, which collected it from the handlers' ports. */
export function readFunctionPermissions(bundles: string): FunctionPermissions {
  return JSON.parse(fs.readFileSync(path.join(bundles, functionPermissionsFile), "utf8")) as FunctionPermissions;
}

/** Gives a role these permissions, and nothing else. */
export function grant(role: Role, permissions: readonly Permission[], prefix: string): void {
  for (const statement of statementsOf(Stack.of(role), permissions, prefix)) role.addToPrincipalPolicy(statement);
}

export function statementsOf(
  stack: Stack,
  permissions: readonly Permission[],
  prefix: string,
): readonly PolicyStatement[] {
  const world = worldOf(stack, prefix);
  return permissions.map(
    ({ resource, actions }) => new PolicyStatement({ actions: [...actions], resources: [...arnsOf(resource, world)] }),
  );
}
