import type { Platform } from "../../adapters/platform";
import { loggedMetricsOf } from "../../core/registry/logged-metrics";
import type { ModelVersion } from "../../core/registry/model";
import type { MetricValue } from "../../core/shapes";

/** Maximum number of versions whose metrics are read; each logged model is a read. */
const maxVersions = 100;

/** Adds logged metrics to versions. @param versions newest first */
export async function withLoggedMetrics<Version extends ModelVersion>(
  platform: Platform,
  versions: readonly Version[],
): Promise<readonly (Version & { readonly loggedMetrics?: Readonly<Record<string, MetricValue>> })[]> {
  const logged = await loggedMetricsOf(platform, versions.slice(0, maxVersions));
  return versions.map((version) => {
    const loggedMetrics = logged.get(version.version);
    return loggedMetrics === undefined ? version : { ...version, loggedMetrics };
  });
}
