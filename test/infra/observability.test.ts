import fs from "node:fs";
import path from "node:path";
import { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Alarm, Metric } from "aws-cdk-lib/aws-cloudwatch";
import { operationalMetrics } from "../../core/metering/metrics";
import { type DashboardRow, dashboardRows } from "../../infra/observability/dashboard";
import { PlatformMetrics } from "../../infra/observability/metrics";
import { ObservabilityStack } from "../../infra/stacks/observability-stack";
import { repository, resources, synthesizeStack } from "./synthesized";

const runbook = fs.readFileSync(path.join(repository, "docs", "operations.md"), "utf8");

let other: Alarm;
const { template } = synthesizeStack(
  {
    teams: [{ name: "vision", monthlyBudgetUsd: 2_000 }],
    alarms: { email: "ml-platform@example.com" },
    budget: { monthlyUsd: 750 },
  },
  (app, config) => {
    const metric = new Metric({ namespace: "AWS/SQS", metricName: "ApproximateNumberOfMessagesVisible" });
    other = new Alarm(new Stack(app, "Other"), "Undelivered", { metric, threshold: 1, evaluationPeriods: 1 });
    return new ObservabilityStack(app, "Observability", { config, otherAlarms: [other] });
  },
);
const of = (type: string) => resources(template, type);
const alarms = () => of("AWS::CloudWatch::Alarm").map(({ Properties }) => Properties);
const dashboard = () => JSON.stringify(of("AWS::CloudWatch::Dashboard"));

describe("observability", () => {
  it("publishes every alarm to the topic, including those of other stacks", () => {
    expect(alarms().length).toBeGreaterThan(8);
    for (const alarm of alarms()) expect(JSON.stringify(alarm["AlarmActions"])).toContain("AlarmsTopic");
    const [elsewhere] = resources(Template.fromStack(Stack.of(other)), "AWS::CloudWatch::Alarm");
    expect(JSON.stringify(elsewhere!.Properties["AlarmActions"])).toContain("AlarmsTopic");
  });

  it("describes the action in each alarm, and the runbook has a section for each", () => {
    for (const { AlarmName, AlarmDescription } of alarms()) {
      const name = String(AlarmName)
        .replace(/^ringmaster-/, "")
        .replace(/^budget-.*/, "budget");
      expect(String(AlarmDescription).length).toBeLessThanOrEqual(1_024);
      expect(String(AlarmDescription)).toContain(`"${name}"`);
      expect(runbook).toContain(`### ${name}\n`);
    }
    const parts = [...runbook.matchAll(/^### (.+)$/gm)].map(([, name]) => name);
    const known = alarms().map(({ AlarmName }) =>
      String(AlarmName)
        .replace(/^ringmaster-/, "")
        .replace(/^budget-.*/, "budget"),
    );
    expect(parts.filter((name) => !known.includes(name!))).toEqual(["undelivered"]);
  });

  it("shows every metric of the platform, or an alarm watches it", () => {
    const shown = dashboard() + JSON.stringify(alarms());
    const unseen = Object.keys(operationalMetrics).filter(
      (name) => !shown.includes(`"${name}"`) && !shown.includes(`\\"${name}`),
    );
    expect(unseen).toEqual([]);
    for (const name of Object.keys(operationalMetrics)) expect(runbook).toContain(`\`${name}\``);
  });

  it("does not count an open stream as a slow answer", () => {
    const [slow] = alarms().filter(({ AlarmName }) => AlarmName === "ringmaster-api-slow");
    expect(JSON.stringify(slow)).toContain('"ringmaster-api"');
    expect(JSON.stringify(slow) + dashboard()).not.toMatch(/"(Integration)?Latency/);
  });

  it("encrypts alarm notifications, and allows only the account's alarms and budgets to publish them", () => {
    const [topic] = of("AWS::SNS::Topic");
    expect(topic!.Properties["KmsMasterKeyId"]).toBeDefined();
    const [key] = of("AWS::KMS::Key");
    const policy = JSON.stringify([key, ...of("AWS::SNS::TopicPolicy")]);
    expect(policy).toContain('"aws:SourceAccount"');
    expect(policy).toContain('"aws:SecureTransport":"false"');
    template.hasResourceProperties("AWS::SNS::Subscription", {
      Protocol: "email",
      Endpoint: "ml-platform@example.com",
    });
  });

  it("has a budget by the platform's tag, for actual and forecast costs", () => {
    const [budget] = of("AWS::Budgets::Budget");
    expect(budget!.Properties).toMatchObject({
      Budget: { BudgetLimit: { Amount: 750 }, CostFilters: { TagKeyValue: ["user:ringmaster$ringmaster"] } },
      NotificationsWithSubscribers: [
        { Notification: { NotificationType: "ACTUAL", Threshold: 80 } },
        { Notification: { NotificationType: "ACTUAL", Threshold: 100 } },
        { Notification: { NotificationType: "FORECASTED", Threshold: 100 } },
      ],
    });
  });

  it("watches each team's budget", () => {
    const [team] = alarms().filter(({ AlarmName }) => AlarmName === "ringmaster-budget-vision");
    expect(team).toMatchObject({
      Threshold: 2_000,
      MetricName: "MonthDollars",
      Namespace: "Ringmaster",
      Dimensions: [
        { Name: "platform", Value: "ringmaster" },
        { Name: "team", Value: "vision" },
      ],
    });
  });

  it("is drawn in the runbook as it is", () => {
    const drawn = drawDashboard(dashboardRows(new PlatformMetrics("ringmaster", "arn")));
    // UPDATE_DOCS=1 draws it again.
    if (process.env["UPDATE_DOCS"]) {
      const updated = runbook.replace(/```text\n\+?[\s\S]*?```/, () => `\`\`\`text\n${drawn}\n\`\`\``);
      fs.writeFileSync(path.join(repository, "docs", "operations.md"), updated);
      return;
    }
    expect(runbook).toContain(`\`\`\`text\n${drawn}\n\`\`\``);
  });
});

/** Draws the dashboard for the documentation. */
function drawDashboard(rows: readonly DashboardRow[]): string {
  const width = 34;
  return rows
    .flatMap(({ question, graphs }) => {
      const line = `+${graphs.map(() => "-".repeat(width)).join("+")}+`;
      const cells = (text: (graph: DashboardRow["graphs"][number]) => string) =>
        `|${graphs.map((graph) => ` ${text(graph)}`.slice(0, width).padEnd(width)).join("|")}|`;
      const long = graphs.some(({ title }) => title.length > width - 2);
      const split = ({ title }: DashboardRow["graphs"][number]): readonly [string, string] => {
        if (title.length <= width - 2) return [title, ""];
        const at = title.lastIndexOf(" ", width - 2);
        return [title.slice(0, at), title.slice(at + 1)];
      };
      return [
        question,
        line,
        cells((graph) => split(graph)[0]),
        ...(long ? [cells((graph) => split(graph)[1])] : []),
        cells(({ unit }) => `(${unit})`),
        line,
        "",
      ];
    })
    .join("\n")
    .trimEnd();
}
