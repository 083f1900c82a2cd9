import { App } from "aws-cdk-lib";
import { readConfig } from "../../infra/config";
import { freeWhileIdle } from "../../infra/cost/free-types";
import { callsAMonth, idleCostOf } from "../../infra/cost/idle";
import { planOf } from "../../infra/cost/main";
import { prices } from "../../infra/cost/prices";
import { renderRun } from "../../infra/cost/render";
import { type RunPlan, runCostOf } from "../../infra/cost/run";

type Resources = Readonly<
  Record<string, { readonly Type: string; readonly Properties?: Readonly<Record<string, unknown>> }>
>;
const costOf = (resources: Resources) => idleCostOf({ stack: { Resources: resources } });

describe("an idle month", () => {
  it.each<[string, string, Readonly<Record<string, unknown>>, number]>([
    ["a NAT gateway, by its 730 hours", "AWS::EC2::NatGateway", {}, 32.85],
    ["a public address", "AWS::EC2::EIP", {}, 3.65],
    [
      "an interface endpoint, in each zone",
      "AWS::EC2::VPCEndpoint",
      { VpcEndpointType: "Interface", SubnetIds: ["a", "b"] },
      14.6,
    ],
    ["a gateway endpoint", "AWS::EC2::VPCEndpoint", { VpcEndpointType: "Gateway" }, 0],
    ["an alarm of one metric", "AWS::CloudWatch::Alarm", { MetricName: "x" }, 0.1],
    [
      "an alarm over an expression of two",
      "AWS::CloudWatch::Alarm",
      { Metrics: [{ MetricStat: {} }, { MetricStat: {} }, { Expression: "a+b" }] },
      0.2,
    ],
    ["a dashboard", "AWS::CloudWatch::Dashboard", {}, 3],
    ["a web ACL of two rules", "AWS::WAFv2::WebACL", { Rules: [{}, {}] }, 7],
    ["a rule that waits for events", "AWS::Events::Rule", { EventPattern: {} }, 0],
    ["a table on demand", "AWS::DynamoDB::Table", { BillingMode: "PAY_PER_REQUEST" }, 0],
  ])("costs for %s", (_name, Type, Properties, expected) => {
    expect(costOf({ R: { Type, Properties } }).usdAMonth).toBeCloseTo(expected, 10);
  });

  it("costs as much for a schedule as its function's calls", () => {
    const Properties = { Name: "ringmaster-reconcile-runs", ScheduleExpression: "rate(1 minute)", State: "ENABLED" };
    // 43,800 calls: $0.20 per million, 0.2 s of half a GiB, a trace, half a read unit, 600 bytes of log.
    const expected = 43_800 * (0.2e-6 + 0.1 * 0.0000166667 + 5e-6 + 0.5 * 0.125e-6 + (600 / 2 ** 30) * 0.5);
    expect(costOf({ R: { Type: "AWS::Events::Rule", Properties } }).usdAMonth).toBeCloseTo(expected, 10);
    expect(
      costOf({ R: { Type: "AWS::Events::Rule", Properties: { ...Properties, State: "DISABLED" } } }).usdAMonth,
    ).toBe(0);
  });

  it.each([
    ["rate(1 minute)", 43_800],
    ["rate(5 minutes)", 8_760],
    ["rate(1 hour)", 730],
    ["rate(2 days)", 730 / 48],
  ])("has %s %p calls", (schedule, calls) => expect(callsAMonth(schedule)).toBeCloseTo(calls, 10));

  it.each<[string, Resources, RegExp]>([
    [
      "a type that nobody has priced",
      { R: { Type: "AWS::SageMaker::Endpoint" } },
      /stack\/R \(AWS::SageMaker::Endpoint\)/,
    ],
    [
      "capacity that is paid for by the hour",
      { R: { Type: "AWS::DynamoDB::Table", Properties: {} } },
      /stack\/R .*: provisioned capacity/,
    ],
    [
      "instances that are kept",
      { R: { Type: "AWS::Batch::ComputeEnvironment", Properties: { ComputeResources: { MinvCpus: 4 } } } },
      /a minimum of instances/,
    ],
    [
      "a schedule that is in no list",
      { R: { Type: "AWS::Events::Rule", Properties: { Name: "x", ScheduleExpression: "rate(1 minute)" } } },
      /"x" calls by the schedule/,
    ],
  ])("does not take %s for free", (_name, resources, expected) => {
    expect(() => costOf(resources)).toThrow(expected);
  });

  it("has a reason for each free type", () => {
    for (const reason of Object.values(freeWhileIdle)) expect(reason.length).toBeGreaterThan(0);
  });
});

describe("a run", () => {
  const plan: RunPlan = {
    instanceType: "g5.xlarge",
    nodes: 4,
    hours: 2,
    market: "on-demand",
    placement: "cluster",
    diskGib: 200,
    publicAddresses: true,
    zones: 3,
    gradientMb: 100,
    steps: 10_000,
  };

  it("costs its node-hours, their disks and addresses", () => {
    const { usd, parts } = runCostOf(plan);
    // 8 node-hours: $1.006 each, 200 GiB at $0.08 per month of 730 hours, $0.005.
    expect(usd).toBeCloseTo(8 * 1.006 + (8 * 200 * prices.diskGibMonth) / 730 + 8 * 0.005, 10);
    expect(parts).toHaveLength(3);
  });

  it("of spread workers includes the cost of gradients between zones; on spot, it is an estimate", () => {
    expect(runCostOf({ ...plan, placement: "spread" }).parts[0]!.usd).toBeCloseTo(8 * 1.006, 10);
    const spread = { ...plan, market: "spot", placement: "spread" } as const;
    const spot = runCostOf(spread);
    // Each step sends 2 × 3 × 100 MB on the ring. Two thirds of 6,000 GB leave their zone, at $0.02 per GB.
    expect(spot.parts.at(-1)).toEqual({ what: "gradients between zones (4000 GB)", usd: expect.closeTo(80, 10) });
    expect(spot.parts[0]!.usd).toBeCloseTo(8 * 0.43258, 10);
    expect(runCostOf({ ...spread, zones: 1 }).parts).toHaveLength(3);
    expect(runCostOf({ ...spread, nodes: 1 }).parts).toHaveLength(3);
  });

  it("of an unknown instance type has no price, and the message lists the known types", () => {
    expect(() => runCostOf({ ...plan, instanceType: "x1.huge" })).toThrow(
      /--instance is "x1\.huge".*It has: c6i\.large,/,
    );
  });

  it("is planned by options and the configuration", () => {
    const config = readConfig({ network: { mode: "private", zones: 2 }, compute: { diskGib: 100 } }, new App().node);
    const planned = planOf({ nodes: "4", hours: "0.5", instance: "g6.xlarge" }, config);
    expect(planned).toEqual({
      instanceType: "g6.xlarge",
      nodes: 4,
      hours: 0.5,
      market: "spot",
      placement: "spread",
      diskGib: 100,
      publicAddresses: false,
      zones: 2,
      gradientMb: 0,
      steps: 0,
    });
    expect(renderRun(planned, runCostOf(planned))).toContain("A run of 4 × g6.xlarge, 0.5 h, spot, costs about");
    expect(() => planOf({ nodes: "0", market: "spto" }, config)).toThrow(
      /^--market is "spto", but must be spot or on-demand\.\n--nodes is "0", but must be a whole number from 1 on\.\n--hours is missing, but must be a number above 0\.\n\nnpm run cost/,
    );
  });
});
