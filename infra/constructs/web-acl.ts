import type { Stage } from "aws-cdk-lib/aws-apigateway";
import { CfnWebACL, CfnWebACLAssociation } from "aws-cdk-lib/aws-wafv2";
import { Construct } from "constructs";

/** Requests of one address in five minutes: far above a busy client, far below a flood. */
const requestsOfAddress = 10_000;

/**
 * AWS's common rules look for attacks in bodies, too; ours are JSON that is checked by schemas, is never shown as HTML and names no file. A job
 * may be larger than 8 KB, have `../` in its module's path and a URL in its notes: those rules count here, and block elsewhere.
 */
const countedRules = [
  "SizeRestrictions_BODY",
  "GenericLFI_BODY",
  "GenericRFI_BODY",
  "CrossSiteScripting_BODY",
  "EC2MetaDataSSRF_BODY",
];

/** A web ACL before a stage: $5 a month, $1 for each of its two rules, $0.60 a million requests. */
export class StageWebAcl extends Construct {
  constructor(scope: Construct, id: string, { prefix, stage }: { readonly prefix: string; readonly stage: Stage }) {
    super(scope, id);
    const seen = (metricName: string) => ({
      cloudWatchMetricsEnabled: true,
      sampledRequestsEnabled: true,
      metricName: `${prefix}-${metricName}`,
    });
    const acl = new CfnWebACL(this, "Acl", {
      name: `${prefix}-api`,
      scope: "REGIONAL",
      defaultAction: { allow: {} },
      visibilityConfig: seen("api"),
      rules: [
        {
          name: "rate",
          priority: 0,
          action: { block: {} },
          statement: {
            rateBasedStatement: { limit: requestsOfAddress, aggregateKeyType: "IP", evaluationWindowSec: 300 },
          },
          visibilityConfig: seen("api-rate"),
        },
        {
          name: "common",
          priority: 1,
          overrideAction: { none: {} },
          statement: {
            managedRuleGroupStatement: {
              vendorName: "AWS",
              name: "AWSManagedRulesCommonRuleSet",
              ruleActionOverrides: countedRules.map((name) => ({ name, actionToUse: { count: {} } })),
            },
          },
          visibilityConfig: seen("api-common"),
        },
      ],
    });
    new CfnWebACLAssociation(this, "Association", { resourceArn: stage.stageArn, webAclArn: acl.attrArn });
  }
}
