import { type FunctionName, functions } from "../../platform/functions";
import type { FunctionPermissions } from "../../platform/permissions";
import { rules } from "../../platform/rules";

/** The resources that a function may use, with their labels. */
const reached: readonly (readonly [resource: string, id: string, label: string])[] = [
  ["table/Catalog", "catalog", "[(Catalog)]"],
  ["table/Metrics", "metrics", "[(Metrics)]"],
  ["table/Features", "features", "[(Features)]"],
  ["objects", "bucket", "[(bucket)]"],
  ["team-topics", "topics", "[[SNS topics of teams]]"],
  ["job-queues", "batch", "[[AWS Batch]]"],
];

const idOf = (name: string): string => name.replaceAll("-", "_");

/**
 * Draws the calls as Mermaid: rules, the API and the state machine call functions, and functions use the resources in
 * their permissions. It is made from the deployed lists, so it cannot differ from them.
 *
 * @param definition text of the state machine, in which `${name}` means the function with that name
 */
export function drawDeployment(definition: string, functionPermissions: FunctionPermissions): string {
  const steps = new Set([...definition.matchAll(/\$\{([a-z-]+)\}/g)].map(([, name]) => name as FunctionName));
  const called = rules.map(({ name, target, schedule }) => ({
    name,
    target,
    shape: schedule ? `{{"${schedule}"}}` : `>${name}]`,
  }));
  const ofSteps = functions.filter(({ name }) => steps.has(name));
  const others = functions.filter(({ name }) => !steps.has(name));
  const edges = functions.flatMap(({ name }) => {
    const resources = new Set(
      functionPermissions[name].map(({ resource }) => resource.split("/").slice(0, 2).join("/")),
    );
    return reached.filter(([resource]) => resources.has(resource)).map(([, id]) => [name, id] as const);
  });
  const reach = (names: readonly { readonly name: FunctionName }[]) =>
    reached.flatMap(([, id]) => {
      const from = edges.filter(([name, to]) => to === id && names.some((one) => one.name === name));
      return from.length === 0 ? [] : [`  ${from.map(([name]) => idOf(name)).join(" & ")} --> ${id}`];
    });
  return [
    "flowchart LR",
    "  callers([callers]) --> gateway[API Gateway] --> api & stream_metrics",
    "  subgraph machine [the state machine training-run]",
    ...ofSteps.map(({ name }) => `    ${idOf(name)}[${name}]`),
    "  end",
    "  api -->|StartExecution| machine",
    ...others.map(({ name }) => `  ${idOf(name)}[${name}]`),
    ...called.map(({ name, target, shape }) => `  rule_${idOf(name)}${shape} --> ${idOf(target)}`),
    ...reached.map(([, id, label]) => `  ${id}${label}`),
    "  batch --> trainers[trainers] --> run_credentials & ingest_metrics",
    "  trainers --> gangs[(Gangs)]",
    "  trainers --> bucket",
    ...reach(ofSteps),
    ...reach(others),
  ].join("\n");
}
