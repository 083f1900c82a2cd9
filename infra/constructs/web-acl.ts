import type { Stage } from "aws-cdk-lib/aws-apigateway";
import { CfnWebACL, CfnWebACLAssociation } from "aws-cdk-lib/aws-wafv2";
import { Construct } from "constructs";

/** The maximum number of requests per address in five minutes: far above a busy client, far below a flood. */
const maxRequestsPerAddress = 10_000;

/**
 * Rules of AWS's common set that only count, because jobs may be larger than 8 KB, have `../` in a path and URLs in
 * notes.
 */
const countedRules = [
  "SizeRestrictions_BODY",
  "GenericLFI_BODY",
  "GenericRFI_BODY",
  "CrossSiteScripting_BODY",
  "EC2MetaDataSSRF_BODY",
];

/** The web ACL of a stage: $5 a month, $1 for each of its two rules, and $0.60 per million requests. */
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
            rateBasedStatement: { limit: maxRequestsPerAddress, aggregateKeyType: "IP", evaluationWindowSec: 300 },
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
