import type { Platform } from "../../adapters/platform";
import { loggedMetricsOf } from "../../core/registry/logged-metrics";
import type { ModelVersion } from "../../core/registry/model";
import { type EncodedValue, encodeValue } from "../../core/tracking/metric-values";

/** Maximum number of versions whose metrics are read; each logged model is a read. */
const most = 100;

/**
 * Adds logged metrics to versions.
 *
 * @param versions newest first
 */
export async function withLoggedMetrics<Version extends ModelVersion>(
  platform: Platform,
  versions: readonly Version[],
): Promise<readonly (Version & { readonly loggedMetrics?: Readonly<Record<string, EncodedValue>> })[]> {
  const logged = await loggedMetricsOf(platform, versions.slice(0, most));
  return versions.map((version) => {
    const metrics = logged.get(version.version);
    if (metrics === undefined) return version;
    const encoded = Object.entries(metrics).map(([metric, value]) => [metric, encodeValue(value)] as const);
    return { ...version, loggedMetrics: Object.fromEntries(encoded) };
  });
}
