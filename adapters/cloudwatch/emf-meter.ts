import type { Measures, Meter } from "../../core/metering/meter";
import {
  type MetricDefinition,
  metricNamespace,
  type OperationalMetric,
  operationalMetrics,
} from "../../core/metering/metrics";
import type { Clock } from "../../core/ports";

/** What CloudWatch takes of one metric from one line (embedded metric format: values, directives). */
const valuesALine = 100;

/**
 * A meter that writes CloudWatch's embedded metric format, one JSON line a call: the log of a function is where CloudWatch finds it, and no call
 * and no permission is needed. https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 *
 * Each metric has one set of dimensions, because each set is a metric that is paid for: by platform, or by platform and team.
 *
 * @param platform several may stand in one account
 */
export function createEmfMeter(write: (line: string) => void, clock: Clock, platform: string): Meter {
  return {
    emit(measures, team, about) {
      for (let from = 0; ; from += valuesALine) {
        const part = partOf(measures, from);
        const directives = directivesOf(part, team !== undefined);
        if (directives.length === 0) return;
        const line = {
          ...about,
          _aws: { Timestamp: clock.now(), CloudWatchMetrics: directives },
          platform,
          ...(team === undefined ? {} : { team }),
          ...part,
        };
        write(JSON.stringify(line));
      }
    },
  };
}

/** Finite values only: CloudWatch drops a whole line for one that is not. */
function partOf(measures: Measures, from: number): Measures {
  const parts = Object.entries(measures).flatMap(([name, value]) => {
    const values = (typeof value === "number" ? [value] : value)
      .filter(Number.isFinite)
      .slice(from, from + valuesALine);
    return values.length === 0 ? [] : [[name, values.length === 1 ? values[0] : values]];
  });
  return Object.fromEntries(parts) as Measures;
}

function directivesOf(measures: Measures, hasTeam: boolean): readonly object[] {
  const names = Object.keys(measures) as OperationalMetric[];
  const byTeam = names.filter((name) => definitionOf(name).by === "team" && hasTeam);
  const byPlatform = names.filter((name) => !byTeam.includes(name));
  return [
    { Dimensions: [["platform", "team"]], names: byTeam },
    { Dimensions: [["platform"]], names: byPlatform },
  ]
    .filter(({ names: some }) => some.length > 0)
    .map(({ Dimensions, names: some }) => ({
      Namespace: metricNamespace,
      Dimensions,
      Metrics: some.map((name) => ({ Name: name, Unit: definitionOf(name).unit })),
    }));
}

const definitionOf = (name: OperationalMetric): MetricDefinition => operationalMetrics[name];
