import fs from "node:fs";
import path from "node:path";
import { Aws, Stack } from "aws-cdk-lib";
import { type IRole, PolicyStatement } from "aws-cdk-lib/aws-iam";
import {
  arnsOf,
  bucketKeyActions,
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

/** A role that may use the bucket may use its key, `bucketKeyArn`. */
export function grant(role: IRole, permissions: readonly Permission[], prefix: string, bucketKeyArn?: string): void {
  for (const statement of statementsOf(Stack.of(role), permissions, prefix, bucketKeyArn))
    role.addToPrincipalPolicy(statement);
}

export function statementsOf(
  stack: Stack,
  permissions: readonly Permission[],
  prefix: string,
  bucketKeyArn?: string,
): readonly PolicyStatement[] {
  const world = worldOf(stack, prefix);
  const statements = permissions.map(
    ({ resource, actions }) => new PolicyStatement({ actions: [...actions], resources: [...arnsOf(resource, world)] }),
  );
  const usesBucket = permissions.some(({ actions }) => actions.some((action) => action.startsWith("s3:")));
  if (bucketKeyArn === undefined || !usesBucket) return statements;
  return [
    ...statements,
    new PolicyStatement({
      actions: [...bucketKeyActions],
      resources: [bucketKeyArn],
      conditions: { StringEquals: { "kms:ViaService": `s3.${stack.region}.${Aws.URL_SUFFIX}` } },
    }),
  ];
}
