import { CfnOutput } from "aws-cdk-lib";
import { Alias } from "aws-cdk-lib/aws-kms";
import { Topic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";
import { teamTopicName } from "../../platform/notifications";
import type { TeamConfig } from "../config";

export interface TeamTopicsProps {
  readonly prefix: string;
  readonly teams: readonly TeamConfig[];
}

/**
 * One topic a team, on which the functions `notify` and `api` publish what the team asked for. Principals of the account subscribe by their own IAM
 * policies. Encrypted under AWS's own key for SNS, which costs nothing: the publishers are roles of this account, to whom that key is open.
 */
export class TeamTopics extends Construct {
  constructor(scope: Construct, id: string, { prefix, teams }: TeamTopicsProps) {
    super(scope, id);
    const masterKey = Alias.fromAliasName(this, "Key", "alias/aws/sns");
    for (const { name } of teams) {
      const topic = new Topic(this, name, { topicName: teamTopicName(prefix, name), masterKey, enforceSSL: true });
      new CfnOutput(this, `${name}-arn`, { value: topic.topicArn, description: `Notifications of team ${name}` });
    }
  }
}
