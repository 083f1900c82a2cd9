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

const row = (question: string, ...graphs: readonly Graph[]): DashboardRow => ({ question, graphs });
const graph = (title: string, unit: string, ...left: readonly IMetric[]): Graph => ({ title, unit, left });

const hour = 60;
const day = 24 * hour;

/** Returns the rows of the dashboard, in the order in which a person looks for the cause of a problem. */
export function dashboardRows(metrics: PlatformMetrics): readonly DashboardRow[] {
  const total = metrics.ofAllTeams.bind(metrics);
  const team = metrics.byTeam.bind(metrics);
  return [
    row(
      "What is going on, and how does it end?",
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
      graph(
        "Runs ended, a day",
        "runs",
        total("RunsCompleted", { statistic: "Sum", minutes: day, label: "completed", color: Color.GREEN }),
        total("RunsFailed", { statistic: "Sum", minutes: day, label: "failed", color: Color.RED }),
        total("RunsKilled", { statistic: "Sum", minutes: day, label: "killed", color: Color.GREY }),
      ),
      graph(
        "Models and triggers, a day",
        "runs",
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
      ),
    ),
    row(
      "Who waits for machines, and what do they cost?",
      graph(
        "Queue wait (p90) and run duration (p50) by team",
        "seconds",
        team("QueueWait", { statistic: "p90", minutes: hour }),
        team("RunDuration", { statistic: "p50", minutes: hour }),
      ),
      graph(
        "GPU and worker hours by team, a day",
        "hours",
        team("GpuHours", { statistic: "Sum", minutes: day }),
        team("WorkerHours", { statistic: "Sum", minutes: day }),
      ),
      graph("Estimated dollars by team, a day", "USD", team("EstimatedDollars", { statistic: "Sum", minutes: day })),
    ),
    row(
      "What is stored?",
      graph(
        "Stored bytes by team, counted once a day",
        "bytes",
        team("StoredBytes", { statistic: "Maximum", minutes: day }),
      ),
      graph(
        "Content that was deleted because nothing refers to it, a day",
        "bytes",
        metrics.own("ReclaimedBytes", { statistic: "Sum", label: "deleted", minutes: day }),
      ),
    ),
    row(
      "Does spot behave?",
      graph(
        "Spot notices and interruptions by team, an hour",
        "workers",
        team("SpotNotices", { statistic: "Sum", minutes: hour }),
        team("SpotInterruptions", { statistic: "Sum", minutes: hour }),
      ),
      graph(
        "Recovery time, p50 and maximum",
        "seconds",
        team("RecoveryTime", { statistic: "p50", minutes: hour }),
        team("RecoveryTime", { statistic: "Maximum", minutes: hour }),
      ),
      graph(
        "Longest wait of a job that has not started",
        "seconds",
        metrics.own("JobWait", { statistic: "Maximum", label: "wait" }),
      ),
    ),
    row(
      "Does the API answer?",
      graph(
        "Requests and errors",
        "requests",
        metrics.ofApi("Count", { statistic: "Sum", label: "requests", color: Color.BLUE }),
        metrics.ofApi("4XXError", { statistic: "Sum", label: "4xx", color: Color.ORANGE }),
        metrics.ofApi("5XXError", { statistic: "Sum", label: "5xx", color: Color.RED }),
      ),
      // Not the gateway's latency, because a stream that is followed for a quarter of an hour counts there as one
      // slow request.
      graph(
        "Time to answer, p50 and p99",
        "ms",
        metrics.ofFunction("api", "Duration", { statistic: "p50", label: "p50" }),
        metrics.ofFunction("api", "Duration", { statistic: "p99", label: "p99" }),
      ),
      graph(
        "Metric-ingest lag, p50 and p99",
        "seconds",
        metrics.own("MetricIngestLag", { statistic: "p50", label: "p50" }),
        metrics.own("MetricIngestLag", { statistic: "p99", label: "p99" }),
      ),
    ),
    row(
      "Do the functions work?",
      graph(
        "Function errors",
        "invocations",
        ...functions.map(({ name }) => metrics.ofFunction(name, "Errors", { statistic: "Sum" })),
      ),
      graph(
        "Function throttles",
        "invocations",
        ...functions.map(({ name }) => metrics.ofFunction(name, "Throttles", { statistic: "Sum" })),
      ),
      graph(
        "Function duration, p99",
        "ms",
        ...functions.map(({ name }) => metrics.ofFunction(name, "Duration", { statistic: "p99" })),
      ),
    ),
    row(
      "Is anything lost or held back?",
      graph(
        "Reconciliation: errors, runs not reached",
        "runs",
        metrics.own("ReconcileErrors", { statistic: "Sum", label: "errors" }),
        metrics.own("ReconcileUnreached", { statistic: "Sum", label: "not reached" }),
      ),
      graph(
        "Executions failed, timed out, throttled",
        "executions",
        ...["ExecutionsFailed", "ExecutionsTimedOut", "ExecutionThrottled"].map((name) =>
          metrics.ofStateMachine(name, { statistic: "Sum" }),
        ),
      ),
      graph(
        "Table throttles",
        "requests",
        ...tables.flatMap(({ name }) =>
          ["ReadThrottleEvents", "WriteThrottleEvents"].map((metric) =>
            metrics.ofTable(name, metric, { statistic: "Sum" }),
          ),
        ),
      ),
    ),
  ];
}
