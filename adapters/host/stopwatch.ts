import os from "node:os";
import { performance } from "node:perf_hooks";
import type { Stopwatch } from "../../core/evaluation/latency";

export function stopwatch(environment: Readonly<Record<string, string | undefined>> = process.env): Stopwatch {
  // The local stack sets the same variables as Lambda, and also the endpoint of its cloud.
  const onLambda = environment["AWS_EXECUTION_ENV"] !== undefined && environment["AWS_ENDPOINT_URL"] === undefined;
  const onBatch = environment["AWS_BATCH_JOB_ID"] !== undefined && environment["AWS_ENDPOINT_URL"] === undefined;
  const ofFunction = onLambda ? Number(environment["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"]) : 0;
  return {
    now: () => performance.now(),
    machine: {
      cpu: os.cpus()[0]?.model.trim() ?? "unknown",
      processors: os.availableParallelism(),
      memoryMb: ofFunction || Math.round(os.totalmem() / 1_048_576),
      host: onLambda ? "lambda" : onBatch ? "batch" : "local",
      node: process.version,
      platform: process.platform,
      arch: process.arch,
    },
  };
}
