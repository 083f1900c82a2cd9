import { dirname } from "node:path";
import { account, region } from "../account";
import { inheritedEnvironment } from "../inherited-environment";
import type { FunctionConfig } from "./types";

/** The variables that Lambda sets, then the function's own, which win as far as Lambda lets them. */
export function functionEnvironment(config: FunctionConfig, logStream: string): Record<string, string> {
  return {
    ...inheritedEnvironment(),
    LANG: "en_US.UTF-8",
    TZ: ":UTC",
    AWS_ACCESS_KEY_ID: "ringmaster",
    AWS_SECRET_ACCESS_KEY: "ringmaster",
    ...config.environment,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_EXECUTION_ENV: "AWS_Lambda_nodejs22.x",
    AWS_LAMBDA_FUNCTION_NAME: config.name,
    AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(config.memoryMb ?? 128),
    AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
    AWS_LAMBDA_LOG_GROUP_NAME: logGroup(config.name),
    AWS_LAMBDA_LOG_STREAM_NAME: logStream,
    LAMBDA_TASK_ROOT: dirname(config.bundle),
    _HANDLER: "index.handler",
    // The context's ARN is made of it; Lambda's own runtime is told by the API instead.
    RINGMASTER_ACCOUNT: account,
  };
}

export function logGroup(name: string): string {
  return `/aws/lambda/${name}`;
}
