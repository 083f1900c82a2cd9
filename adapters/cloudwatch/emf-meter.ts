import type { Measures, Meter } from "../../core/metering/metrics";
import {
  type MetricDefinition,
  metricNamespace,
  type OperationalMetric,
  operationalMetrics,
} from "../../core/metering/metrics";
import type { Clock } from "../../core/ports";
import { sharedPort } from "../port";
import { printLine } from "../process-scope";

/** The maximum number of values of one metric in one line (embedded metric format). */
const maxValuesPerLine = 100;

/**
 * Creates a meter that writes CloudWatch's embedded metric format, one JSON line per call. CloudWatch reads the metrics
 * from the log of the function, so no request and no permission is needed.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 *
 * Each metric has one set of dimensions (platform, or platform and team), because each set is billed as a metric.
 * @param platform distinguishes several platforms in one account
 */
export function createEmfMeter(write: (line: string) => void, clock: Clock, platform: string): Meter {
  return {
    emit(measures, team, about) {
      for (let from = 0; ; from += maxValuesPerLine) {
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

/** Returns the next values of each metric: only finite ones, because CloudWatch drops a line with any other. */
function partOf(measures: Measures, from: number): Measures {
  const parts = Object.entries(measures).flatMap(([name, value]) => {
    const values = (typeof value === "number" ? [value] : value)
      .filter(Number.isFinite)
      .slice(from, from + maxValuesPerLine);
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

export const meter = sharedPort({
  make: (_uses, { clock, config }) => createEmfMeter(printLine, clock, config.prefix),
});
