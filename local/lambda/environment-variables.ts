import { dirname } from "node:path";
import { account, region } from "../account";
import { inheritedEnvironment } from "../inherited-environment";
import type { FunctionConfig } from "./types";

/**
 * Returns the variables that Lambda sets, and the function's own. The function's own override them where Lambda allows
 * it.
 */
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
    // The ARN in the context contains it. Lambda's own runtime gets the ARN from its API.
    RINGMASTER_ACCOUNT: account,
  };
}

export function logGroup(name: string): string {
  return `/aws/lambda/${name}`;
}
