import { Duration, Stack } from "aws-cdk-lib";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { CfnScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { triggerNames } from "../../platform/triggers";

export interface TriggerSchedulesProps {
  readonly prefix: string;
  readonly target: IFunction;
}

/** The resources for schedules of triggers: group, role, and queue of undelivered firings. The API creates the schedules. */
export class TriggerSchedules extends Construct {
  readonly deadLetterQueue: Queue;

  constructor(scope: Construct, id: string, { prefix, target }: TriggerSchedulesProps) {
    super(scope, id);
    const { account, region } = Stack.of(this);
    const names = triggerNames({ prefix, region });
    this.deadLetterQueue = new Queue(this, "Undelivered", {
      queueName: names.deadLetterQueue,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    const group = new CfnScheduleGroup(this, "Group", { name: names.scheduleGroup });
    const role = new Role(this, "Role", {
      roleName: names.scheduleRole,
      // The Scheduler may use the role only for this group, and not for other schedules in the account.
      assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
        conditions: { StringEquals: { "aws:SourceAccount": account, "aws:SourceArn": group.attrArn } },
      }),
    });
    role.addToPrincipalPolicy(
      new PolicyStatement({ actions: ["lambda:InvokeFunction"], resources: [target.functionArn] }),
    );
    role.addToPrincipalPolicy(
      new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [this.deadLetterQueue.queueArn] }),
    );
  }
}
