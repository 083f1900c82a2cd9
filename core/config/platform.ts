import { z } from "zod";
import { ConfigurationError } from "./errors";

const resource = z.string().min(1);

/**
 * The environment of every function: names of resources, never endpoints (those are the SDK's own `AWS_ENDPOINT_URL`). `infra/` and `local/`
 * set the same variables by `environmentOf`.
 */
const environmentSchema = z.object({
  RINGMASTER_PREFIX: resource,
  RINGMASTER_BUCKET: resource,
  RINGMASTER_TABLE_CATALOG: resource,
  RINGMASTER_TABLE_METRICS: resource,
  RINGMASTER_TABLE_GANGS: resource,
  RINGMASTER_STATE_MACHINE_ARN: resource,
  RINGMASTER_JOB_QUEUE_SPOT: resource,
  RINGMASTER_JOB_QUEUE_ON_DEMAND: resource,
  RINGMASTER_JOB_DEFINITION: resource,
  RINGMASTER_JOB_DEFINITION_GANG: resource,
});

export interface PlatformConfig {
  readonly prefix: string;
  readonly bucket: string;
  readonly tables: { readonly catalog: string; readonly metrics: string; readonly gangs: string };
  readonly stateMachineArn: string;
  readonly jobQueues: { readonly spot: string; readonly onDemand: string };
  /** `single`: one node, elastic arrays of it. `gang`: multi-node-parallel, on-demand only. */
  readonly jobDefinitions: { readonly single: string; readonly gang: string };
}

/** Reads and checks the whole environment at once. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): PlatformConfig {
  const parsed = environmentSchema.safeParse(environment);
  if (!parsed.success) {
    throw new ConfigurationError(parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`));
  }
  const env = parsed.data;
  return {
    prefix: env.RINGMASTER_PREFIX,
    bucket: env.RINGMASTER_BUCKET,
    tables: {
      catalog: env.RINGMASTER_TABLE_CATALOG,
      metrics: env.RINGMASTER_TABLE_METRICS,
      gangs: env.RINGMASTER_TABLE_GANGS,
    },
    stateMachineArn: env.RINGMASTER_STATE_MACHINE_ARN,
    jobQueues: { spot: env.RINGMASTER_JOB_QUEUE_SPOT, onDemand: env.RINGMASTER_JOB_QUEUE_ON_DEMAND },
    jobDefinitions: { single: env.RINGMASTER_JOB_DEFINITION, gang: env.RINGMASTER_JOB_DEFINITION_GANG },
  };
}

/** The inverse of `readConfig`: what `infra/` and `local/` put into a function's environment. */
export function environmentOf(config: PlatformConfig): Readonly<Record<string, string>> {
  return {
    RINGMASTER_PREFIX: config.prefix,
    RINGMASTER_BUCKET: config.bucket,
    RINGMASTER_TABLE_CATALOG: config.tables.catalog,
    RINGMASTER_TABLE_METRICS: config.tables.metrics,
    RINGMASTER_TABLE_GANGS: config.tables.gangs,
    RINGMASTER_STATE_MACHINE_ARN: config.stateMachineArn,
    RINGMASTER_JOB_QUEUE_SPOT: config.jobQueues.spot,
    RINGMASTER_JOB_QUEUE_ON_DEMAND: config.jobQueues.onDemand,
    RINGMASTER_JOB_DEFINITION: config.jobDefinitions.single,
    RINGMASTER_JOB_DEFINITION_GANG: config.jobDefinitions.gang,
  };
}
