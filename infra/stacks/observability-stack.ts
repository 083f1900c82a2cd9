import { Stack, type StackProps } from "aws-cdk-lib";
import { CfnBudget } from "aws-cdk-lib/aws-budgets";
import {
  Alarm,
  Dashboard,
  GraphWidget,
  PeriodOverride,
  TextWidget,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { Construct } from "constructs";
import { arnsOf } from "../../platform/permissions";
import type { DeploymentConfig } from "../config";
import { AlarmTopic } from "../constructs/alarm-topic";
import { worldOf } from "../grants";
import { alarmDefinitions, operatorOf } from "../observability/alarms";
import { type DashboardRow, dashboardRows } from "../observability/dashboard";
import { PlatformMetrics } from "../observability/metrics";

export interface ObservabilityStackProps extends StackProps {
  readonly config: DeploymentConfig;
  /** The alarms that other stacks create for their resources. This stack sends their notifications. */
  readonly otherAlarms: readonly Alarm[];
}

const graphWidth = 8;
const graphHeight = 6;

export class ObservabilityStack extends Stack {
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, { config, otherAlarms, ...props }: ObservabilityStackProps) {
    super(scope, id, props);
    const { prefix } = config;
    const [stateMachineArn] = arnsOf("state-machine", worldOf(this, prefix));
    const metrics = new PlatformMetrics(prefix, stateMachineArn!);
    const { topic } = new AlarmTopic(this, "Alarms", { prefix, email: config.alarms.email });

    this.alarms = alarmDefinitions(metrics, config).map((definition) => {
      const [datapointsToAlarm, evaluationPeriods] = definition.periods;
      return new Alarm(this, definition.name, {
        alarmName: `${prefix}-${definition.name}`,
        alarmDescription: definition.says,
        metric: definition.metric,
        threshold: definition.threshold,
        comparisonOperator: operatorOf(definition),
        datapointsToAlarm,
        evaluationPeriods,
        treatMissingData: definition.missing ?? TreatMissingData.NOT_BREACHING,
      });
    });
    for (const alarm of [...this.alarms, ...otherAlarms]) alarm.addAlarmAction(new SnsAction(topic));

    this.dashboard(prefix, dashboardRows(metrics));
    this.budget(config, topic.topicArn);
  }

  private dashboard(prefix: string, rows: readonly DashboardRow[]): void {
    const dashboard = new Dashboard(this, "Dashboard", {
      dashboardName: prefix,
      periodOverride: PeriodOverride.INHERIT,
    });
    for (const { question, graphs } of rows) {
      dashboard.addWidgets(new TextWidget({ markdown: `## ${question}`, width: 24, height: 1 }));
      dashboard.addWidgets(
        ...graphs.map(
          ({ title, left, unit, stacked }) =>
            new GraphWidget({
              title,
              left: [...left],
              stacked: stacked ?? false,
              leftYAxis: { label: unit, showUnits: false, min: 0 },
              width: graphWidth,
              height: graphHeight,
            }),
        ),
      );
    }
  }

  /** By the tag of all platform resources, which must be activated once as a cost allocation tag. */
  private budget({ prefix, budget: { monthlyUsd } }: DeploymentConfig, address: string): void {
    const subscribers = [{ subscriptionType: "SNS", address }];
    const when = (notificationType: "ACTUAL" | "FORECASTED", threshold: number) => ({
      notification: { notificationType, comparisonOperator: "GREATER_THAN", threshold, thresholdType: "PERCENTAGE" },
      subscribers,
    });
    new CfnBudget(this, "Budget", {
      budget: {
        budgetName: `${prefix}-monthly`,
        budgetType: "COST",
        timeUnit: "MONTHLY",
        budgetLimit: { amount: monthlyUsd, unit: "USD" },
        costFilters: { TagKeyValue: [`user:ringmaster$${prefix}`] },
      },
      notificationsWithSubscribers: [when("ACTUAL", 80), when("ACTUAL", 100), when("FORECASTED", 100)],
    });
  }
}
