import { Duration, Stack, type StackProps } from "aws-cdk-lib";
import { type EventPattern, Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import type { FunctionName } from "../../core/platform/functions";
import { type RuleDefinition, rules } from "../../core/platform/rules";
import type { DeploymentConfig } from "../config";
import { PlatformArns } from "../names";

export interface TriggersStackProps extends StackProps {
  readonly config: DeploymentConfig;
  readonly functions: ReadonlyMap<FunctionName, IFunction>;
}

/** What sets functions going: events and schedules. What cannot be delivered in a day waits in a queue to be looked at. */
export class TriggersStack extends Stack {
  constructor(scope: Construct, id: string, { config, functions, ...props }: TriggersStackProps) {
    super(scope, id, props);
    const { prefix } = config;
    const deadLetterQueue = new Queue(this, "Undelivered", {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    for (const definition of rules) {
      const target = functions.get(definition.target);
      if (!target)
        throw new Error(
          `core/platform/rules.ts: the rule "${definition.name}" targets no function: ${definition.target}`,
        );
      new Rule(this, definition.name, {
        ruleName: `${prefix}-${definition.name}`,
        description: definition.description,
        ...this.#source(definition, prefix),
        targets: [new LambdaFunction(target, { deadLetterQueue, maxEventAge: Duration.hours(24), retryAttempts: 185 })],
      });
    }
  }

  #source({ name, pattern, schedule }: RuleDefinition, prefix: string) {
    if (schedule !== undefined) return { schedule: Schedule.expression(schedule) };
    if (pattern === undefined)
      throw new Error(`core/platform/rules.ts: the rule "${name}" has neither pattern nor schedule.`);
    return { eventPattern: this.#ownEvents(pattern, prefix) };
  }

  /** The pattern, kept to this platform's queues and state machine: an account may have others. */
  #ownEvents(pattern: NonNullable<RuleDefinition["pattern"]>, prefix: string): EventPattern {
    const {
      "detail-type": detailType,
      source,
      detail,
      ...rest
    } = pattern as {
      readonly "detail-type"?: string[];
      readonly source?: string[];
      readonly detail?: Readonly<Record<string, unknown>>;
    };
    const arns = new PlatformArns(this, prefix);
    const own: Readonly<Record<string, object>> = {
      "aws.batch": { jobQueue: arns.jobQueues },
      "aws.states": { stateMachineArn: [arns.stateMachine] },
    };
    const narrowed = Object.assign({}, detail, ...(source ?? []).map((name) => own[name]));
    return { ...rest, ...(source ? { source } : {}), ...(detailType ? { detailType } : {}), detail: narrowed };
  }
}
