import type { MethodDeploymentOptions } from "aws-cdk-lib/aws-apigateway";
import type { OpenApiDocument, Operation } from "../../api/openapi/model";
import type { DeploymentConfig } from "../config";

/**
 * Parts of the limits by class of operation. A flood of writes must leave capacity for reads, expensive calls for both.
 */
const parts: Readonly<Record<Operation["x-ringmaster"]["class"], number>> = { read: 1, write: 0.5, heavy: 0.25 };

/** The limits below the stage's, by `/path/METHOD`; each has all settings, because it replaces the stage's. */
export function throttlingByClass(
  document: OpenApiDocument,
  { api: { throttling } }: DeploymentConfig,
  settings: MethodDeploymentOptions,
): { readonly [path: string]: MethodDeploymentOptions } {
  const entries = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) => {
      const part = parts[operation["x-ringmaster"].class];
      if (part === 1) return [];
      const limits = {
        throttlingRateLimit: Math.max(1, Math.floor(throttling.ratePerSecond * part)),
        throttlingBurstLimit: Math.max(1, Math.floor(throttling.burst * part)),
      };
      return [[`/api/v1${path}/${method.toUpperCase()}`, { ...settings, ...limits }]];
    }),
  );
  return Object.fromEntries(entries);
}
