import { Duration, Stack } from "aws-cdk-lib";
import { ArnPrincipal, type IRole, ManagedPolicy, Policy, PolicyDocument, Role } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";
import { endedRunsPolicy, endedRunsPolicyName, runRoleNameIn, runRolePermissions } from "../../platform/permissions";
import { statementsOf } from "../grants";

export interface RunRoleProps {
  readonly prefix: string;
  readonly broker: IRole;
  /** The customer-managed key of the data bucket, if it has one. */
  readonly bucketKeyArn?: string | undefined;
}

/**
 * The role of trainers, in sessions that `run-credentials` narrows to one run each. One managed policy is its
 * permissions and its boundary, so that `end-sessions`, which writes an inline policy, can only remove rights.
 */
export class RunRole extends Role {
  constructor(scope: Construct, id: string, { prefix, broker, bucketKeyArn }: RunRoleProps) {
    const permissions = new ManagedPolicy(scope, `${id}Permissions`, {
      description: "The maximum permissions of a trainer",
      statements: [...statementsOf(Stack.of(scope), runRolePermissions, prefix, bucketKeyArn)],
    });
    super(scope, id, {
      roleName: runRoleNameIn({ prefix, region: Stack.of(scope).region }),
      description: "Trainers' sessions, each narrowed to one run",
      assumedBy: new ArnPrincipal(broker.roleArn),
      maxSessionDuration: Duration.hours(1),
      managedPolicies: [permissions],
      permissionsBoundary: permissions,
    });
    // The policy is part of the stack, so that it is deleted with the role. `end-sessions` replaces its content.
    new Policy(this, "EndedRuns", {
      policyName: endedRunsPolicyName,
      document: PolicyDocument.fromJson(endedRunsPolicy([]).document),
      roles: [this],
    });
  }
}
