import { Aspects, CfnResource, type IAspect } from "aws-cdk-lib";
import { CfnRole } from "aws-cdk-lib/aws-iam";
import type { IConstruct } from "constructs";

/**
 * Gives every role of the app a permissions boundary, including those that CDK itself adds. A role with a boundary of its
 * own keeps it: the trainers' role would otherwise be able to get more rights than its own.
 */
export function addBoundary(app: IConstruct, policyArn: string): void {
  const aspect: IAspect = {
    visit(node) {
      if (!CfnResource.isCfnResource(node) || node.cfnResourceType !== CfnRole.CFN_RESOURCE_TYPE_NAME) return;
      if (node instanceof CfnRole && node.permissionsBoundary !== undefined) return;
      node.addPropertyOverride("PermissionsBoundary", policyArn);
    },
  };
  Aspects.of(app).add(aspect);
}
