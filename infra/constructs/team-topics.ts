import { CfnOutput } from "aws-cdk-lib";
import { Alias } from "aws-cdk-lib/aws-kms";
import { Topic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";
import { teamTopicName } from "../../platform/event-names";
import type { TeamConfig } from "../config";

export interface TeamTopicsProps {
  readonly prefix: string;
  readonly teams: readonly TeamConfig[];
}

/** The teams' topics. They use AWS's own key for SNS, which is free and which roles of this account may use. */
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
