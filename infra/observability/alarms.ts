import { Duration } from "aws-cdk-lib";
import { ComparisonOperator, type IMetric, MathExpression, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import type { FunctionName } from "../../platform/functions";
import type { DeploymentConfig } from "../config";
import type { PlatformMetrics } from "./metrics";

export interface AlarmDefinition {
  /** The alarm's name after the prefix, which is also its heading in docs/operations.md. */
  readonly name: string;
  /** The meaning and the action, in one or two sentences of the e-mail. */
  readonly says: string;
  readonly metric: IMetric;
  readonly threshold: number;
  readonly below?: boolean;
  /** The number of periods beyond the threshold, and the number of latest periods that are considered. */
  readonly periods: readonly [datapoints: number, of: number];
  /** Missing data usually means that nothing happened, except for what must happen each minute. */
  readonly missing?: TreatMissingData;
}

/** The functions that nobody waits for, so that an alarm is the only report of their errors. */
const unattended: readonly FunctionName[] = [
  "finish-training",
  "conclude-run",
  "fire-triggers",
  "drive-study",
  "monitor-drift",
  "notify",
  "ingest-metrics",
  "run-credentials",
  "end-sessions",
  "reclaim-storage",
];

function sumOf(metrics: readonly IMetric[], label: string): IMetric {
  const named = Object.fromEntries(metrics.map((metric, i) => [`m${i}`, metric]));
  // Sums the existing data. A function that has never run has none to fill in.
  return new MathExpression({ expression: "SUM(METRICS())", usingMetrics: named, label, period: Duration.minutes(5) });
}

/**
 * Returns the alarms: conditions that need a person, because they do not recover by themselves or recover too slowly.
 */
export function alarmDefinitions(
  metrics: PlatformMetrics,
  { teams, prefix }: DeploymentConfig,
): readonly AlarmDefinition[] {
  const definitions: readonly AlarmDefinition[] = [
    {
      name: "reconcile-silent",
      says: "reconcile-runs has not run for ten minutes: lost events are not repaired, and running trainings lose their heartbeat. Check that the rule is enabled and that the account has concurrency left.",
      metric: metrics.ofFunction("reconcile-runs", "Invocations", { statistic: "Sum" }),
      threshold: 1,
      below: true,
      periods: [2, 2],
      missing: TreatMissingData.BREACHING,
    },
    {
      name: "reconcile-failing",
      says: "reconcile-runs fails or times out. Read the function's log. Runs continue, but lost events are not repaired until it works.",
      metric: metrics.ofFunction("reconcile-runs", "Errors", { statistic: "Sum" }),
      threshold: 2,
      periods: [2, 3],
    },
    {
      name: "runs-not-looked-after",
      says: "For a quarter of an hour, the same kind of error has prevented the monitoring of an open run. Search the log of reconcile-runs for 'cannot reconcile': it names the run and the cause.",
      metric: metrics.own("ReconcileErrors", { statistic: "Sum" }),
      threshold: 0,
      periods: [3, 3],
    },
    {
      name: "function-errors",
      says: `A function without a waiting caller fails: ${unattended.join(", ")}. The dashboard's 'Function errors' shows which one; its log shows the cause.`,
      metric: sumOf(
        unattended.map((name) => metrics.ofFunction(name, "Errors", { statistic: "Sum" })),
        "errors",
      ),
      threshold: 5,
      periods: [2, 3],
    },
    {
      name: "api-errors",
      says: "The API answers with 5xx. Read the log of the function api by the request id of the access log; a storage or throttling error of a service shows on the dashboard as well.",
      metric: metrics.ofApi("5XXError", { statistic: "Sum" }),
      threshold: 10,
      periods: [2, 3],
    },
    {
      name: "api-slow",
      says: "One request in a hundred takes more than ten seconds; API Gateway gives up after 29. Look at the trace map of the function api for the slow service.",
      // Uses the function's duration. The gateway's would include a followed stream as a request of a quarter of an
      // hour.
      metric: metrics.ofFunction("api", "Duration", { statistic: "p99" }),
      threshold: 10_000,
      periods: [3, 3],
    },
    {
      name: "metric-ingest-lag",
      says: "Metric points take more than a minute to be stored. Training continues, and nothing is lost for hours; look for throttles of ingest-metrics and of the table Metrics.",
      metric: metrics.own("MetricIngestLag", { statistic: "p90" }),
      threshold: 60,
      periods: [3, 3],
    },
    {
      name: "jobs-not-starting",
      says: "A training job has waited for an hour. Spot capacity may be short, the vCPU quota reached, or the queue blocked: look at the job queue in Batch and at the compute environments' status.",
      metric: metrics.own("JobWait", { statistic: "Maximum" }),
      threshold: 3_600,
      periods: [3, 3],
    },
    {
      name: "gpu-errors",
      says: "The NVIDIA driver of a trainer's instance reported an error (Xid). Its line in the log group of the instances has the instance and the number: end an instance whose GPU is damaged.",
      metric: metrics.ofGpus({ statistic: "Sum" }),
      threshold: 0,
      periods: [1, 1],
    },
    {
      name: "executions-timed-out",
      says: "An execution of the state machine exceeded its time limit of thirty days. Its run has failed with EXECUTION_TIMED_OUT. The approvers may not know of the request.",
      metric: metrics.ofStateMachine("ExecutionsTimedOut", { statistic: "Sum" }),
      threshold: 0,
      periods: [1, 1],
    },
    {
      name: "table-throttles",
      says: "DynamoDB throttles requests: a table is at its configured maximum (tables.maxReadUnits, tables.maxWriteUnits) or one run's rows are too hot. Requests are retried; raise the limits if the load is intended.",
      metric: sumOf(
        (["Catalog", "Gangs", "Features"] as const).flatMap((table) =>
          ["ReadThrottleEvents", "WriteThrottleEvents"].map((name) =>
            metrics.ofTable(table, name, { statistic: "Sum" }),
          ),
        ),
        "throttled requests",
      ),
      threshold: 100,
      periods: [2, 3],
    },
    ...teams.flatMap(({ name, monthlyBudgetUsd }) =>
      monthlyBudgetUsd === undefined
        ? []
        : [
            {
              name: `budget-${name}`,
              says: `Team ${name}'s runs of this calendar month are estimated at more than its monthlyBudgetUsd of $${monthlyBudgetUsd}. Nothing is stopped: look at \`ringmaster runs list\` of the team, and talk to it.`,
              metric: metrics.ofTeam("MonthDollars", name, { statistic: "Maximum", minutes: 60 }),
              threshold: monthlyBudgetUsd,
              periods: [1, 1] as const,
              // The sum is published at the end of an attempt, and does not change until the next one.
              missing: TreatMissingData.IGNORE,
            },
          ],
    ),
  ];
  return definitions.map((alarm) => ({
    ...alarm,
    says: `${alarm.says} Runbook: docs/operations.md, "${headingOf(alarm.name)}" (platform ${prefix}).`,
  }));
}

/** Returns the heading in the runbook. The alarms of teams' budgets share one. */
const headingOf = (alarm: string): string => alarm.replace(/^budget-.*/, "budget");

export const operatorOf = ({ below = false }: AlarmDefinition): ComparisonOperator =>
  below ? ComparisonOperator.LESS_THAN_THRESHOLD : ComparisonOperator.GREATER_THAN_THRESHOLD;
