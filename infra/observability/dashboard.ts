import { Color, type IMetric } from "aws-cdk-lib/aws-cloudwatch";
import { functions } from "../../platform/functions";
import { tables } from "../../platform/tables";
import type { PlatformMetrics } from "./metrics";

export interface Graph {
  readonly title: string;
  readonly left: readonly IMetric[];
  readonly unit: string;
  readonly stacked?: boolean;
}

export interface DashboardRow {
  readonly question: string;
  readonly graphs: readonly Graph[];
}

const hour = 60;
const day = 24 * hour;

/** Returns the rows of the dashboard, in the order in which a person looks for the cause of a problem. */
export function dashboardRows(metrics: PlatformMetrics): readonly DashboardRow[] {
  const total = metrics.ofAllTeams.bind(metrics);
  const team = metrics.byTeam.bind(metrics);
  return [
    {
      question: "What is going on, and how does it end?",
      graphs: [
        {
          title: "Runs by state",
          unit: "runs",
          stacked: true,
          left: [
            total("RunsQueued", { statistic: "Maximum", label: "queued", color: Color.GREY }),
            total("RunsPreparing", { statistic: "Maximum", label: "preparing", color: Color.PURPLE }),
            total("RunsTraining", { statistic: "Maximum", label: "training", color: Color.BLUE }),
            total("RunsConcluding", { statistic: "Maximum", label: "concluding", color: Color.GREEN }),
          ],
        },
        {
          title: "Runs ended, a day",
          unit: "runs",
          left: [
            total("RunsCompleted", { statistic: "Sum", minutes: day, label: "completed", color: Color.GREEN }),
            total("RunsFailed", { statistic: "Sum", minutes: day, label: "failed", color: Color.RED }),
            total("RunsKilled", { statistic: "Sum", minutes: day, label: "killed", color: Color.GREY }),
          ],
        },
        {
          title: "Models and triggers, a day",
          unit: "runs",
          left: [
            total("ModelsPromoted", { statistic: "Sum", minutes: day, label: "promoted", color: Color.GREEN }),
            total("ModelsRefusedByGate", {
              statistic: "Sum",
              minutes: day,
              label: "refused by a gate",
              color: Color.ORANGE,
            }),
            total("ModelsRejected", { statistic: "Sum", minutes: day, label: "rejected", color: Color.RED }),
            total("TriggerFired", { statistic: "Sum", minutes: day, label: "triggers fired", color: Color.BLUE }),
            total("TriggerSkipped", {
              statistic: "Sum",
              minutes: day,
              label: "triggers skipped",
              color: Color.GREY,
            }),
          ],
        },
      ],
    },
    {
      question: "Who waits for machines, and what do they cost?",
      graphs: [
        {
          title: "Queue wait (p90) and run duration (p50) by team",
          unit: "seconds",
          left: [
            team("QueueWait", { statistic: "p90", minutes: hour }),
            team("RunDuration", { statistic: "p50", minutes: hour }),
          ],
        },
        {
          title: "GPU and worker hours by team, a day",
          unit: "hours",
          left: [
            team("GpuHours", { statistic: "Sum", minutes: day }),
            team("WorkerHours", { statistic: "Sum", minutes: day }),
          ],
        },
        {
          title: "Estimated dollars by team, a day",
          unit: "USD",
          left: [team("EstimatedDollars", { statistic: "Sum", minutes: day })],
        },
      ],
    },
    {
      question: "What is stored?",
      graphs: [
        {
          title: "Stored bytes by team, counted once a day",
          unit: "bytes",
          left: [team("StoredBytes", { statistic: "Maximum", minutes: day })],
        },
        {
          title: "Content that was deleted because nothing refers to it, a day",
          unit: "bytes",
          left: [metrics.own("ReclaimedBytes", { statistic: "Sum", label: "deleted", minutes: day })],
        },
      ],
    },
    {
      question: "Does spot behave?",
      graphs: [
        {
          title: "Spot notices and interruptions by team, an hour",
          unit: "workers",
          left: [
            team("SpotNotices", { statistic: "Sum", minutes: hour }),
            team("SpotInterruptions", { statistic: "Sum", minutes: hour }),
          ],
        },
        {
          title: "Recovery time, p50 and maximum",
          unit: "seconds",
          left: [
            team("RecoveryTime", { statistic: "p50", minutes: hour }),
            team("RecoveryTime", { statistic: "Maximum", minutes: hour }),
          ],
        },
        {
          title: "Longest wait of a job that has not started",
          unit: "seconds",
          left: [metrics.own("JobWait", { statistic: "Maximum", label: "wait" })],
        },
      ],
    },
    {
      question: "Does the API answer?",
      graphs: [
        {
          title: "Requests and errors",
          unit: "requests",
          left: [
            metrics.ofApi("Count", { statistic: "Sum", label: "requests", color: Color.BLUE }),
            metrics.ofApi("4XXError", { statistic: "Sum", label: "4xx", color: Color.ORANGE }),
            metrics.ofApi("5XXError", { statistic: "Sum", label: "5xx", color: Color.RED }),
          ],
        },
        {
          // Not the gateway's latency, because a stream that is followed for a quarter of an hour counts there as one
          // slow request.
          title: "Time to answer, p50 and p99",
          unit: "ms",
          left: [
            metrics.ofFunction("api", "Duration", { statistic: "p50", label: "p50" }),
            metrics.ofFunction("api", "Duration", { statistic: "p99", label: "p99" }),
          ],
        },
        {
          title: "Metric-ingest lag, p50 and p99",
          unit: "seconds",
          left: [
            metrics.own("MetricIngestLag", { statistic: "p50", label: "p50" }),
            metrics.own("MetricIngestLag", { statistic: "p99", label: "p99" }),
          ],
        },
      ],
    },
    {
      question: "Do the functions work?",
      graphs: [
        {
          title: "Function errors",
          unit: "invocations",
          left: functions.map(({ name }) => metrics.ofFunction(name, "Errors", { statistic: "Sum" })),
        },
        {
          title: "Function throttles",
          unit: "invocations",
          left: functions.map(({ name }) => metrics.ofFunction(name, "Throttles", { statistic: "Sum" })),
        },
        {
          title: "Function duration, p99",
          unit: "ms",
          left: functions.map(({ name }) => metrics.ofFunction(name, "Duration", { statistic: "p99" })),
        },
      ],
    },
    {
      question: "Is anything lost or held back?",
      graphs: [
        {
          title: "Reconciliation: errors, runs not reached",
          unit: "runs",
          left: [
            metrics.own("ReconcileErrors", { statistic: "Sum", label: "errors" }),
            metrics.own("ReconcileUnreached", { statistic: "Sum", label: "not reached" }),
          ],
        },
        {
          title: "Executions failed, timed out, throttled",
          unit: "executions",
          left: ["ExecutionsFailed", "ExecutionsTimedOut", "ExecutionThrottled"].map((name) =>
            metrics.ofStateMachine(name, { statistic: "Sum" }),
          ),
        },
        {
          title: "Table throttles",
          unit: "requests",
          left: tables.flatMap(({ name }) =>
            ["ReadThrottleEvents", "WriteThrottleEvents"].map((metric) =>
              metrics.ofTable(name, metric, { statistic: "Sum" }),
            ),
          ),
        },
      ],
    },
  ];
}
