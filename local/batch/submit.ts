import { randomUUID } from "node:crypto";
import type * as z from "zod";
import { nodeContainers, parseRange, resolveContainer, withNodes } from "./container";
import { clientError } from "./errors";
import type { schemas } from "./schemas";
import type { ContainerOverrides, ContainerProperties, Job, JobDefinition, JobQueue, NodeProperties } from "./types";

export type SubmitInput = z.infer<typeof schemas.submitJob>;

export interface SubmitContext {
  readonly queue: JobQueue | undefined;
  readonly definition: JobDefinition;
  readonly now: number;
}

/** Batch's limit on all overrides together, in bytes. */
const overridesLimit = 8192;

export function makeJobs(input: SubmitInput, context: SubmitContext): readonly Job[] {
  const { queue, definition } = context;
  if (!queue) throw clientError(`JobQueue ${input.jobQueue} does not exist. Create it first.`);
  if (queue.state !== "ENABLED") throw clientError(`JobQueue ${queue.jobQueueName} is DISABLED and takes no jobs.`);
  checkShare(input, queue);
  checkOverrides(input);
  const parameters = { ...definition.parameters, ...input.parameters };
  const base: Job = {
    jobId: randomUUID(),
    jobName: input.jobName,
    kind: "single",
    queue: queue.jobQueueName,
    definition: definition.jobDefinitionArn,
    createdAt: context.now,
    shareIdentifier: input.shareIdentifier,
    schedulingPriority: input.schedulingPriorityOverride ?? definition.schedulingPriority ?? 0,
    parameters,
    retryStrategy: input.retryStrategy ?? definition.retryStrategy ?? {},
    timeoutSeconds: (input.timeout ?? definition.timeout)?.attemptDurationSeconds,
    propagateTags: input.propagateTags ?? definition.propagateTags ?? false,
    tags: { ...(input.propagateTags ? definition.tags : {}), ...input.tags },
    status: "SUBMITTED",
    attempts: [],
  };
  if (definition.type === "multinode") return makeGang(input, base, definition.nodeProperties!);
  if (input.nodeOverrides) throw clientError("nodeOverrides must not be given for a job definition of type container.");
  const overrides = (input.containerOverrides ?? {}) as ContainerOverrides;
  const containerProperties = resolveContainer(definition.containerProperties!, overrides, parameters);
  const size = input.arrayProperties?.size;
  if (size === undefined) return [{ ...base, containerProperties }];
  return withChildren({ ...base, kind: "array", size, containerProperties }, size, ":", (index) => ({
    kind: "array-child",
    containerProperties,
    index,
  }));
}

function makeGang(input: SubmitInput, base: Job, properties: NodeProperties): readonly Job[] {
  if (input.arrayProperties?.size !== undefined) throw clientError("A multi-node parallel job cannot be an array job.");
  if (input.containerOverrides)
    throw clientError(
      "containerOverrides must not be given for a job definition of type multinode: use nodeOverrides.",
    );
  const nodeProperties = withNodes(properties, input.nodeOverrides?.numNodes);
  const { numNodes, mainNode } = nodeProperties;
  const overrides = (input.nodeOverrides?.nodePropertyOverrides ?? []).map(({ targetNodes, containerOverrides }) => ({
    ...parseRange(targetNodes, numNodes),
    containerOverrides: (containerOverrides ?? {}) as ContainerOverrides,
  }));
  const containers = nodeContainers(nodeProperties).map((container, node): ContainerProperties => {
    const override = overrides.find(({ first, last }) => first <= node && node <= last);
    return resolveContainer(container, override?.containerOverrides ?? {}, base.parameters);
  });
  return withChildren({ ...base, kind: "multi-node", size: numNodes, nodeProperties }, numNodes, "#", (index) => ({
    kind: "node",
    containerProperties: containers[index],
    mainNode,
    index,
  }));
}

function withChildren(
  parent: Job,
  size: number,
  mark: ":" | "#",
  child: (index: number) => Partial<Job>,
): readonly Job[] {
  const { nodeProperties: _, ...shared } = parent;
  const children = Array.from({ length: size }, (_, index): Job => {
    return { ...shared, ...child(index), jobId: `${parent.jobId}${mark}${index}`, parent: parent.jobId };
  });
  return [parent, ...children];
}

function checkShare({ shareIdentifier }: SubmitInput, queue: JobQueue): void {
  if (queue.schedulingPolicyArn && shareIdentifier === undefined) {
    throw clientError(`shareIdentifier must be given for the fair-share queue ${queue.jobQueueName}.`);
  }
  if (!queue.schedulingPolicyArn && shareIdentifier !== undefined) {
    throw clientError(
      `shareIdentifier is '${shareIdentifier}', but the queue ${queue.jobQueueName} has no scheduling policy.`,
    );
  }
}

function checkOverrides({ containerOverrides, nodeOverrides }: SubmitInput): void {
  const size = Buffer.byteLength(JSON.stringify(containerOverrides ?? nodeOverrides ?? ""));
  if (size > overridesLimit) {
    throw clientError(
      `Container overrides length is ${size} bytes, but must be at most ${overridesLimit}. Pass a reference instead.`,
    );
  }
}
