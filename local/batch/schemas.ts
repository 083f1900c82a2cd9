import * as z from "zod";
import { clientError } from "./errors";

const name = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/,
    "must be 1–128 letters, digits, '-' or '_', and begin with a letter or digit",
  );
const strings = z.array(z.string());
const stringMap = z.record(z.string(), z.string());
const tags = stringMap.optional();
const keyValues = z.array(z.object({ name: z.string(), value: z.string() }));
const state = z.enum(["ENABLED", "DISABLED"]);

const resourceRequirements = z
  .array(
    z.object({ type: z.enum(["VCPU", "MEMORY", "GPU"]), value: z.string().regex(/^\d+(\.\d+)?$/, "must be a number") }),
  )
  .optional();

const pattern = z.string().max(512).optional();
export const retryStrategy = z.object({
  attempts: z.number().int().min(1).max(10).optional(),
  evaluateOnExit: z
    .array(
      z.object({
        action: z.string().regex(/^(RETRY|EXIT)$/i, "must be RETRY or EXIT"),
        onReason: pattern,
        onStatusReason: pattern,
        onExitCode: z
          .string()
          .regex(/^\d{0,}\*?$/, "may hold digits, and end with '*'")
          .max(512)
          .optional(),
      }),
    )
    .max(5)
    .optional(),
});

/** Batch's lower limit. It prevents the end of a short job while it starts. */
const timeout = z.object({ attemptDurationSeconds: z.number().int().min(60).optional() });

export const container = z.looseObject({
  image: z.string().min(1),
  command: strings.optional(),
  environment: keyValues.optional(),
  resourceRequirements,
  vcpus: z.number().int().min(1).optional(),
  memory: z.number().int().min(4).optional(),
  logConfiguration: z.looseObject({ logDriver: z.string(), options: stringMap.optional() }).optional(),
});

export const overrides = z.looseObject({
  command: strings.optional(),
  environment: keyValues.optional(),
  resourceRequirements,
  vcpus: z.number().int().min(1).optional(),
  memory: z.number().int().min(4).optional(),
});

export const nodeProperties = z.object({
  numNodes: z.number().int().min(1).max(1000),
  mainNode: z.number().int().min(0),
  /** `targetNodes` is a range of nodes: `2`, `0:3`, `4:` or `:3`. */
  nodeRangeProperties: z
    .array(z.looseObject({ targetNodes: z.string(), container: container.optional() }))
    .min(1)
    .max(5),
});

export const fairsharePolicy = z.object({
  shareDecaySeconds: z.number().int().min(0).optional(),
  computeReservation: z.number().int().min(0).max(99).optional(),
  shareDistribution: z
    .array(z.object({ shareIdentifier: z.string(), weightFactor: z.number().min(0.0001).max(999.9999).optional() }))
    .optional(),
});

export const schemas = {
  registerJobDefinition: z.looseObject({
    jobDefinitionName: name,
    type: z.enum(["container", "multinode"]),
    parameters: stringMap.optional(),
    retryStrategy: retryStrategy.optional(),
    timeout: timeout.optional(),
    schedulingPriority: z.number().int().min(0).max(9999).optional(),
    containerProperties: container.optional(),
    nodeProperties: nodeProperties.optional(),
    propagateTags: z.boolean().optional(),
    platformCapabilities: strings.optional(),
    tags,
  }),
  submitJob: z.looseObject({
    jobName: name,
    jobQueue: z.string(),
    jobDefinition: z.string(),
    shareIdentifier: z
      .string()
      .regex(/^[A-Za-z0-9]{1,255}$/, "must be 1–255 letters and digits")
      .optional(),
    schedulingPriorityOverride: z.number().int().min(0).max(9999).optional(),
    arrayProperties: z.object({ size: z.number().int().min(2).max(10_000).optional() }).optional(),
    dependsOn: z.array(z.unknown()).max(0, "is not implemented by the embedded Batch").optional(),
    parameters: stringMap.optional(),
    containerOverrides: overrides.optional(),
    nodeOverrides: z
      .object({
        numNodes: z.number().int().min(1).max(1000).optional(),
        nodePropertyOverrides: z
          .array(z.object({ targetNodes: z.string(), containerOverrides: overrides.optional() }))
          .optional(),
      })
      .optional(),
    retryStrategy: retryStrategy.optional(),
    timeout: timeout.optional(),
    propagateTags: z.boolean().optional(),
    tags,
  }),
  listJobs: z.object({
    jobQueue: z.string().optional(),
    arrayJobId: z.string().optional(),
    multiNodeJobId: z.string().optional(),
    jobStatus: z.enum(["SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED"]).optional(),
    maxResults: z.number().int().min(1).optional(),
    nextToken: z.string().optional(),
    filters: z
      .array(z.object({ name: z.string().optional(), values: strings.optional() }))
      .max(1)
      .optional(),
  }),
  stopJob: z.object({ jobId: z.string().min(1), reason: z.string().min(1) }),
  describeJobs: z.object({ jobs: strings.max(100) }),
  createComputeEnvironment: z.looseObject({
    computeEnvironmentName: name,
    type: z.enum(["MANAGED", "UNMANAGED"]),
    state: state.optional(),
    computeResources: z
      .looseObject({ type: z.string(), maxvCpus: z.number().int().min(1), instanceTypes: strings.optional() })
      .optional(),
    serviceRole: z.string().optional(),
    tags,
  }),
  createJobQueue: z.looseObject({
    jobQueueName: name,
    state: state.optional(),
    priority: z.number().int().min(0),
    schedulingPolicyArn: z.string().optional(),
    computeEnvironmentOrder: z
      .array(z.object({ order: z.number().int(), computeEnvironment: z.string() }))
      .min(1)
      .max(3),
    tags,
  }),
  updateJobQueue: z.object({
    jobQueue: z.string(),
    state: state.optional(),
    priority: z.number().int().min(0).optional(),
    schedulingPolicyArn: z.string().optional(),
    computeEnvironmentOrder: z
      .array(z.object({ order: z.number().int(), computeEnvironment: z.string() }))
      .min(1)
      .max(3)
      .optional(),
  }),
  createSchedulingPolicy: z.object({
    name,
    fairsharePolicy: fairsharePolicy.optional(),
    tags,
  }),
} as const;

export function parse<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0]!;
  const where = path.length > 0 ? path.join(".") : "request";
  const at = path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], body);
  const value = at === undefined ? "" : ` (it is ${JSON.stringify(at)})`;
  throw clientError(`Error executing request: ${where}${value}: ${message}.`);
}
