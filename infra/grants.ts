import { Aws, Stack } from "aws-cdk-lib";
import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import { arnsOf, type Permission, type World } from "../platform/permissions";
import { bucketNameIn } from "./names";

/** The deployment's names and CloudFormation's tokens, of which `platform/permissions` makes ARNs. */
export function worldOf(stack: Stack, prefix: string): World {
  return {
    partition: Aws.PARTITION,
    region: stack.region,
    account: stack.account,
    prefix,
    bucket: bucketNameIn(prefix),
  };
}

/** Gives a role what the description says, and nothing else. */
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
