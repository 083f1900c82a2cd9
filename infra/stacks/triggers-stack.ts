import { Duration, Stack, type StackProps } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { type EventPattern, Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { type IQueue, Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import type { FunctionName } from "../../platform/functions";
import type { World } from "../../platform/permissions";
import { type RuleDefinition, rules } from "../../platform/rules";
import type { DeploymentConfig } from "../config";
import { TeamTopics } from "../constructs/team-topics";
import { TriggerSchedules } from "../constructs/trigger-schedules";
import { worldOf } from "../grants";

export interface TriggersStackProps extends StackProps {
  readonly config: DeploymentConfig;
  readonly functions: ReadonlyMap<FunctionName, IFunction>;
}

/** Events and schedules. Events that cannot be delivered within a day wait in a queue for inspection. */
export class TriggersStack extends Stack {
  /** The alarms for undelivered events. The observability stack sends their notifications. */
  readonly undelivered: readonly Alarm[];

  constructor(scope: Construct, id: string, { config, functions, ...props }: TriggersStackProps) {
    super(scope, id, props);
    const { prefix } = config;
    const deadLetterQueue = new Queue(this, "Undelivered", {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    const deadLetterConfig = { arn: deadLetterQueue.queueArn };
    const targetOf = (name: FunctionName, what: string): IFunction => {
      const target = functions.get(name);
      if (!target) throw new Error(`platform/rules.ts: ${what} targets no function: ${name}`);
      return target;
    };
    const world = worldOf(this, prefix);
    for (const definition of rules) {
      const target = targetOf(definition.target, `the rule "${definition.name}"`);
      new Rule(this, definition.name, {
        ruleName: `${prefix}-${definition.name}`,
        description: definition.description,
        ...sourceOf(definition, world),
        targets: [{ bind: (rule) => ({ ...functionTarget(target).bind(rule), deadLetterConfig }) }],
      });
    }
    // CDK would add a statement for each rule, and SQS accepts 20 statements with 10 conditions.
    deadLetterQueue.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal("events.amazonaws.com")],
        actions: ["sqs:SendMessage"],
        resources: [deadLetterQueue.queueArn],
        conditions: {
          ArnLike: {
            "aws:SourceArn": this.formatArn({ service: "events", resource: "rule", resourceName: `${prefix}-*` }),
          },
        },
      }),
    );
    new TeamTopics(this, "Topics", { prefix, teams: config.teams });
    const schedules = new TriggerSchedules(this, "Triggers", {
      prefix,
      target: targetOf("fire-triggers", "schedules of triggers"),
    });
    this.undelivered = [
      this.alarm("UndeliveredAlarm", deadLetterQueue, "An event could not be delivered in a day."),
      this.alarm(
        "UndeliveredFiringAlarm",
        schedules.deadLetterQueue,
        "A trigger's schedule fired, and its function could not be called in a day.",
      ),
    ];
  }

  private alarm(id: string, queue: IQueue, alarmDescription: string): Alarm {
    return new Alarm(this, id, {
      alarmDescription,
      metric: queue.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(5), statistic: "Maximum" }),
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      threshold: 0,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }
}

/** EventBridge's maximum: 185 attempts in 24 hours. */
const functionTarget = (target: IFunction) =>
  new LambdaFunction(target, { maxEventAge: Duration.hours(24), retryAttempts: 185 });

function sourceOf({ name, pattern, schedule }: RuleDefinition, world: World) {
  if (schedule !== undefined) return { schedule: Schedule.expression(schedule) };
  if (pattern === undefined) throw new Error(`platform/rules.ts: the rule "${name}" has neither pattern nor schedule.`);
  const { source, "detail-type": detailType, detail } = pattern(world);
  const eventPattern: EventPattern = {
    source: [...source],
    detailType: [...detailType],
    ...(detail ? { detail } : {}),
  };
  return { eventPattern };
}
