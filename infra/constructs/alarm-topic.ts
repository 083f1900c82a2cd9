import { Aws, RemovalPolicy } from "aws-cdk-lib";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { type ITopic, Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Construct } from "constructs";

export interface AlarmTopicProps {
  readonly prefix: string;
  readonly email?: string;
}

/** It has its own key: CloudWatch and Budgets cannot publish to a topic with AWS's own key for SNS. */
export class AlarmTopic extends Construct {
  readonly topic: ITopic;

  constructor(scope: Construct, id: string, { prefix, email }: AlarmTopicProps) {
    super(scope, id);
    const senders = ["cloudwatch.amazonaws.com", "budgets.amazonaws.com"].map((name) => new ServicePrincipal(name));
    const ownAccount = { StringEquals: { "aws:SourceAccount": Aws.ACCOUNT_ID } };
    const key = new Key(this, "Key", {
      alias: `${prefix}-alarms`,
      description: "Encrypts alarm notifications",
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    key.addToResourcePolicy(
      new PolicyStatement({
        principals: senders,
        actions: ["kms:Decrypt", "kms:GenerateDataKey"],
        resources: ["*"], // In the policy of a key this means the key itself.
        conditions: ownAccount,
      }),
    );
    const topic = new Topic(this, "Topic", { topicName: `${prefix}-alarms`, masterKey: key, enforceSSL: true });
    topic.addToResourcePolicy(
      new PolicyStatement({
        principals: senders,
        actions: ["sns:Publish"],
        resources: [topic.topicArn],
        conditions: ownAccount,
      }),
    );
    if (email !== undefined) topic.addSubscription(new EmailSubscription(email));
    this.topic = topic;
  }
}
