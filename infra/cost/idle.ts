import { functions } from "../../platform/functions";
import { rules } from "../../platform/rules";
import { freeWhileIdle } from "./free-types";
import { hoursAMonth, prices } from "./prices";

export interface CostLine {
  readonly stack: string;
  readonly logicalId: string;
  readonly type: string;
  readonly usdAMonth: number;
  readonly because: string;
}

export interface IdleCost {
  readonly lines: readonly CostLine[];
  /** The number of resources that are free while idle. */
  readonly free: number;
  readonly usdAMonth: number;
}

type Properties = Readonly<Record<string, unknown>>;
type Template = {
  readonly Resources: Readonly<Record<string, { readonly Type: string; readonly Properties?: Properties }>>;
};
type Price = Pick<CostLine, "usdAMonth" | "because">;

/** A call that finds nothing to do: its duration, a trace, three log lines, and half a read unit. */
const idleCall = { seconds: 0.2, logBytes: 600, readUnits: 0.5 } as const;

const hourly = (usd: number, because: string): Price => ({ usdAMonth: usd * hoursAMonth, because });
const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The prices of types that cost something while idle. `undefined` for a resource that is free. */
const pricedTypes: Readonly<Record<string, (properties: Properties) => Price | undefined>> = {
  "AWS::CloudWatch::Alarm": ({ Metrics }) => {
    // An alarm over an expression costs as much as the metrics in it.
    const metrics = Math.max(
      1,
      listed(Metrics).filter((metric) => (metric as Properties)["MetricStat"] !== undefined).length,
    );
    return { usdAMonth: metrics * prices.alarmMetricMonth, because: `${metrics} metric${metrics === 1 ? "" : "s"}` };
  },
  "AWS::CloudWatch::CompositeAlarm": () => ({ usdAMonth: prices.compositeAlarmMonth, because: "a composite alarm" }),
  "AWS::CloudWatch::Dashboard": () => ({ usdAMonth: prices.dashboardMonth, because: "a dashboard" }),
  "AWS::EC2::EIP": () => hourly(prices.publicAddressHour, "a public address"),
  "AWS::EC2::NatGateway": () => hourly(prices.natGatewayHour, "a NAT gateway, traffic apart"),
  "AWS::EC2::VPCEndpoint": ({ VpcEndpointType, SubnetIds }) => {
    if (VpcEndpointType !== "Interface") return undefined; // Gateway endpoints are free.
    const zones = Math.max(1, listed(SubnetIds).length);
    return hourly(zones * prices.interfaceEndpointHour, `an interface in ${zones} zones, traffic apart`);
  },
  "AWS::Events::Rule": scheduledCalls,
  "AWS::KMS::Key": () => ({ usdAMonth: prices.keyMonth, because: "a key" }),
  "AWS::Route53::HostedZone": () => ({ usdAMonth: prices.hostedZoneMonth, because: "a hosted zone" }),
  "AWS::SecretsManager::Secret": () => ({ usdAMonth: prices.secretMonth, because: "a secret" }),
  "AWS::WAFv2::WebACL": ({ Rules }) => {
    const count = listed(Rules).length;
    return { usdAMonth: prices.webAclMonth + count * prices.webAclRuleMonth, because: `a web ACL of ${count} rules` };
  },
};

/** The settings that make a free type cost something. @returns the reason */
const costlySettings: Readonly<Record<string, (properties: Properties) => string | undefined>> = {
  "AWS::ApiGateway::Stage": ({ CacheClusterEnabled }) => (CacheClusterEnabled === true ? "its cache" : undefined),
  "AWS::DynamoDB::Table": ({ BillingMode }) => (BillingMode === "PAY_PER_REQUEST" ? undefined : "provisioned capacity"),
  "AWS::Lambda::Function": ({ ProvisionedConcurrencyConfig, SnapStart }) =>
    ProvisionedConcurrencyConfig || SnapStart ? "provisioned concurrency or SnapStart" : undefined,
  "AWS::Batch::ComputeEnvironment": ({ ComputeResources }) =>
    Number((ComputeResources as Properties | undefined)?.["MinvCpus"] ?? 0) > 0 ? "a minimum of instances" : undefined,
};

/** The cost of a month without activity and stored data. @throws Error that lists what has no known price */
export function idleCostOf(templates: Readonly<Record<string, Template>>): IdleCost {
  const lines: CostLine[] = [];
  const unknown: string[] = [];
  let free = 0;
  for (const [stack, { Resources }] of Object.entries(templates)) {
    for (const [logicalId, { Type: type, Properties = {} }] of Object.entries(Resources)) {
      const costly = costlySettings[type]?.(Properties);
      const isPriced = type in pricedTypes || type in freeWhileIdle || type in costlySettings;
      if (!isPriced || costly !== undefined) {
        unknown.push(`${stack}/${logicalId} (${type})${costly === undefined ? "" : `: ${costly}`}`);
        continue;
      }
      const price = pricedTypes[type]?.(Properties);
      if (price) lines.push({ stack, logicalId, type, ...price });
      else free += 1;
    }
  }
  if (unknown.length > 0) {
    throw new Error(
      `The price is not known of:\n${unknown.map((each) => `  - ${each}`).join("\n")}\nNext: price the type in infra/cost/idle.ts, or, where it costs nothing while nothing happens, list it with the reason in infra/cost/free-types.ts.`,
    );
  }
  lines.sort((one, other) => other.usdAMonth - one.usdAMonth);
  return { lines, free, usdAMonth: lines.reduce((sum, { usdAMonth }) => sum + usdAMonth, 0) };
}

function scheduledCalls({ ScheduleExpression: schedule, Name: name, State: state }: Properties): Price | undefined {
  if (typeof schedule !== "string" || state === "DISABLED") return undefined;
  const rule = rules.find((each) => each.schedule === schedule && String(name).endsWith(`-${each.name}`));
  const definition = functions.find((each) => each.name === rule?.target);
  if (!definition) {
    throw new Error(
      `The rule ${JSON.stringify(name)} calls by the schedule ${schedule}, but platform/rules.ts has no such rule: what it calls cannot be priced.`,
    );
  }
  const calls = callsAMonth(schedule);
  const gibSeconds = idleCall.seconds * (definition.memoryMb / 1024);
  const aCall =
    prices.lambdaRequest +
    gibSeconds * prices.lambdaGibSecond +
    prices.trace +
    idleCall.readUnits * prices.readRequestUnit +
    (idleCall.logBytes / 2 ** 30) * prices.logGibIngested;
  return {
    usdAMonth: calls * aCall,
    because: `${Math.round(calls)} calls of ${definition.name}, each ${gibSeconds.toFixed(2)} GiB-s and a trace`,
  };
}

/** @throws Error for an expression other than `rate(…)` */
export function callsAMonth(schedule: string): number {
  const [, count, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(schedule) ?? [];
  const minutes = { minute: 1, hour: 60, day: 1_440 }[unit as "minute" | "hour" | "day"];
  if (minutes === undefined)
    throw new Error(`The schedule ${schedule} is not of the form rate(5 minutes), which is what can be priced.`);
  return (hoursAMonth * 60) / (Number(count) * minutes);
}
