import { clientError } from "./errors";
import type {
  ContainerOverrides,
  ContainerProperties,
  KeyValue,
  NodeProperties,
  NodeRange,
  ResourceRequirement,
} from "./types";

/**
 * Resolves a job's container: the definition's container with the job's overrides applied and `Ref::name` replaced by
 * parameters.
 */
export function resolveContainer(
  properties: ContainerProperties,
  overrides: ContainerOverrides,
  parameters: Readonly<Record<string, string>>,
): ContainerProperties {
  const { vcpus, memory, ...rest } = properties;
  return {
    ...rest,
    command: (overrides.command ?? properties.command ?? []).map((word) => substitute(word, parameters)),
    environment: mergeByKey(properties.environment, overrides.environment, ({ name }) => name),
    resourceRequirements: mergeByKey<ResourceRequirement>(
      [...legacy("VCPU", vcpus), ...legacy("MEMORY", memory), ...(properties.resourceRequirements ?? [])],
      [
        ...legacy("VCPU", overrides.vcpus),
        ...legacy("MEMORY", overrides.memory),
        ...(overrides.resourceRequirements ?? []),
      ],
      ({ type }) => type,
    ),
  };
}

function legacy(type: ResourceRequirement["type"], value: number | undefined): ResourceRequirement[] {
  return value === undefined ? [] : [{ type, value: String(value) }];
}

/** Replaces `Ref::name` by the parameter. A reference to an unknown parameter stays as it is, as in Batch. */
function substitute(word: string, parameters: Readonly<Record<string, string>>): string {
  return word.startsWith("Ref::") ? (parameters[word.slice(5)] ?? word) : word;
}

function mergeByKey<T>(base: readonly T[] = [], over: readonly T[] = [], key: (item: T) => string): readonly T[] {
  return [...new Map([...base, ...over].map((item) => [key(item), item])).values()];
}

export const vcpusOf = (container: ContainerProperties | undefined): number => requirement(container, "VCPU") ?? 1;
export const gpusOf = (container: ContainerProperties | undefined): number => requirement(container, "GPU") ?? 0;

function requirement(container: ContainerProperties | undefined, of: ResourceRequirement["type"]): number | undefined {
  const value = container?.resourceRequirements?.find(({ type }) => type === of)?.value;
  return value === undefined ? undefined : Number(value);
}

export function toRecord(environment: readonly KeyValue[] = []): Record<string, string> {
  return Object.fromEntries(environment.map(({ name, value }) => [name, value]));
}

/** Parses a range of nodes (`2`, `0:3`, `4:` or `:3`) into its first and last node. `numNodes` bounds an open range. */
export function parseRange(targetNodes: string, numNodes: number): { readonly first: number; readonly last: number } {
  const match = /^(\d*)(:?)(\d*)$/.exec(targetNodes);
  if (!match || targetNodes === "") {
    throw clientError(`targetNodes '${targetNodes}' is not a range of nodes. Write it as '0:3', '4:', ':3' or '2'.`);
  }
  const first = Number(match[1] || 0);
  const last = match[2] ? (match[3] ? Number(match[3]) : numNodes - 1) : first;
  if (first > last) throw clientError(`targetNodes '${targetNodes}' is empty for ${numNodes} nodes.`);
  return { first, last };
}

/** Returns the container of each node. Where ranges overlap, the later range applies (Batch: nested ranges win). */
export function nodeContainers(properties: NodeProperties): readonly ContainerProperties[] {
  const { numNodes, mainNode, nodeRangeProperties } = properties;
  if (mainNode >= numNodes)
    throw clientError(`mainNode is ${mainNode}, but must be below numNodes, which is ${numNodes}.`);
  const ranges = nodeRangeProperties
    .map((range: NodeRange) => ({ ...parseRange(range.targetNodes, numNodes), range }))
    .sort((a, b) => b.last - b.first - (a.last - a.first));
  return Array.from({ length: numNodes }, (_, node) => {
    const narrowest = ranges.filter(({ first, last }) => first <= node && node <= last).at(-1)?.range;
    if (!narrowest?.container) {
      throw clientError(
        `Node ${node} of ${numNodes} is in none of the ranges of nodeRangeProperties that have a container.`,
      );
    }
    return narrowest.container;
  });
}

/** Applies `numNodes` of a submission. It may be chosen only if the last range of the definition is open (`0:`). */
export function withNodes(properties: NodeProperties, numNodes: number | undefined): NodeProperties {
  if (numNodes === undefined || numNodes === properties.numNodes) return properties;
  if (!properties.nodeRangeProperties.some(({ targetNodes }) => targetNodes.endsWith(":"))) {
    throw clientError(
      `numNodes cannot be overridden to ${numNodes}: no node range of the job definition is open at its end (such as '0:').`,
    );
  }
  return { ...properties, numNodes };
}
