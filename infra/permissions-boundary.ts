import { Aspects, CfnResource, type IAspect } from "aws-cdk-lib";
import { CfnRole } from "aws-cdk-lib/aws-iam";
import type { IConstruct } from "constructs";

/** Gives every role, also CDK's own, a boundary. The trainers' role keeps its narrower one. */
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
