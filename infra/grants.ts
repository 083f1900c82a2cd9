import { Aws, Stack } from "aws-cdk-lib";
import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import { arnsOf, type Permission, type World } from "../platform/permissions";
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

/** Grants a role exactly the described permissions. */
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
