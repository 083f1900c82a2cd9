import { Duration } from "aws-cdk-lib";
import { type IMetric, MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import {
  type MetricDefinition,
  metricNamespace,
  type OperationalMetric,
  operationalMetrics,
} from "../../core/metering/metrics";
import { type FunctionName, functionNameIn } from "../../platform/functions";
import { type TableName, tableNameIn } from "../../platform/tables";

export interface MetricOptions {
  readonly statistic: string;
  readonly minutes?: number;
  readonly label?: string;
  readonly color?: string;
}

/** Errors of GPU drivers (Xid). A filter of log lines has no dimension, so the namespace has the platform. */
export const gpuErrorsMetric = (prefix: string) => ({
  metricNamespace: `${metricNamespace}/${prefix}`,
  metricName: "GpuErrors",
});

export class PlatformMetrics {
  constructor(
    private readonly prefix: string,
    private readonly stateMachineArn: string,
  ) {}

  /** Returns a metric of the platform without teams. */
  own(name: OperationalMetric, { statistic, minutes = 5, label, color }: MetricOptions): IMetric {
    return new Metric({
      namespace: metricNamespace,
      metricName: name,
      dimensionsMap: { platform: this.prefix },
      statistic,
      period: Duration.minutes(minutes),
      label: label ?? name,
      color,
    });
  }

  /** Returns one line per team. Dashboards find the teams by a search, so a new team needs no deployment. */
  byTeam(name: OperationalMetric, { statistic, minutes = 5 }: MetricOptions): IMetric {
    return new MathExpression({
      expression: this.search(name, statistic, minutes),
      label: "",
      period: Duration.minutes(minutes),
    });
  }

  ofAllTeams(name: OperationalMetric, { statistic, minutes = 5, label, color }: MetricOptions): IMetric {
    const of = definitionOf(name).by === "team" ? this.search(name, statistic, minutes) : "";
    return new MathExpression({
      expression: `FILL(SUM(${of}), 0)`,
      label: label ?? name,
      color,
      period: Duration.minutes(minutes),
    });
  }

  ofTeam(name: OperationalMetric, team: string, { statistic, minutes = 5 }: MetricOptions): IMetric {
    return new Metric({
      namespace: metricNamespace,
      metricName: name,
      dimensionsMap: { platform: this.prefix, team },
      statistic,
      period: Duration.minutes(minutes),
    });
  }

  ofGpus({ statistic, minutes = 5 }: MetricOptions): IMetric {
    const { metricNamespace: namespace, metricName } = gpuErrorsMetric(this.prefix);
    return this.aws(namespace, metricName, {}, statistic, minutes, metricName);
  }

  ofFunction(name: FunctionName, metricName: string, { statistic, minutes = 5, label }: MetricOptions): IMetric {
    return this.aws(
      "AWS/Lambda",
      metricName,
      { FunctionName: functionNameIn(this.prefix, name) },
      statistic,
      minutes,
      label ?? name,
    );
  }

  ofTable(name: TableName, metricName: string, { statistic, minutes = 5 }: MetricOptions): IMetric {
    const dimensions = { TableName: tableNameIn(this.prefix, name) };
    return this.aws("AWS/DynamoDB", metricName, dimensions, statistic, minutes, `${name} ${metricName}`);
  }

  ofApi(metricName: string, { statistic, minutes = 5, label, color }: MetricOptions): IMetric {
    return this.aws(
      "AWS/ApiGateway",
      metricName,
      { ApiName: this.prefix },
      statistic,
      minutes,
      label ?? metricName,
      color,
    );
  }

  ofStateMachine(metricName: string, { statistic, minutes = 5 }: MetricOptions): IMetric {
    const dimensions = { StateMachineArn: this.stateMachineArn };
    return this.aws("AWS/States", metricName, dimensions, statistic, minutes, metricName);
  }

  private search(name: OperationalMetric, statistic: string, minutes: number): string {
    return `SEARCH('{${metricNamespace},platform,team} platform="${this.prefix}" MetricName="${name}"', '${statistic}', ${minutes * 60})`;
  }

  private aws(
    namespace: string,
    metricName: string,
    dimensionsMap: Readonly<Record<string, string>>,
    statistic: string,
    minutes: number,
    label: string,
    color?: string,
  ): IMetric {
    return new Metric({
      namespace,
      metricName,
      dimensionsMap,
      statistic,
      period: Duration.minutes(minutes),
      label,
      color,
    });
  }
}

const definitionOf = (name: OperationalMetric): MetricDefinition => operationalMetrics[name];
