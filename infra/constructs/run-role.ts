import { Duration, Stack } from "aws-cdk-lib";
import { ArnPrincipal, type IRole, Role } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";
import { runRoleNameIn, runRolePermissions } from "../../platform/permissions";
import { grant } from "../grants";

/**
 * What trainers act as: in sessions that `run-credentials` opens and narrows to one run each. Nobody else is trusted, neither the trainers'
 * job nor the account's people.
 */
export class RunRole extends Role {
  constructor(scope: Construct, id: string, { prefix, broker }: { readonly prefix: string; readonly broker: IRole }) {
    super(scope, id, {
      roleName: runRoleNameIn({ prefix, region: Stack.of(scope).region }),
      description: "Trainers' sessions, each narrowed to one run",
      assumedBy: new ArnPrincipal(broker.roleArn),
      maxSessionDuration: Duration.hours(1),
    });
    grant(this, runRolePermissions, prefix);
  }
}
