import { isObject } from "../../core/json-text";

/** The settings by which a target's input is made from the event. */
export interface TargetInput {
  readonly Input?: string;
  readonly InputPath?: string;
  readonly InputTransformer?: {
    readonly InputPathsMap?: Readonly<Record<string, string>>;
    readonly InputTemplate: string;
  };
}

export interface RuleOfInput {
  readonly name: string;
  readonly arn: string;
}

/** Returns the JSON text for a target: a constant, a part of the event, a filled template, or the event. */
export function targetInput(target: TargetInput, event: Readonly<Record<string, unknown>>, rule: RuleOfInput): string {
  if (target.Input !== undefined) return target.Input;
  if (target.InputPath !== undefined) return JSON.stringify(atPath(event, target.InputPath) ?? null);
  return target.InputTransformer ? transform(target.InputTransformer, event, rule) : JSON.stringify(event);
}

function transform(
  { InputPathsMap = {}, InputTemplate }: NonNullable<TargetInput["InputTransformer"]>,
  event: Readonly<Record<string, unknown>>,
  rule: RuleOfInput,
): string {
  const variables = new Map<string, unknown>([
    ...Object.entries(InputPathsMap).map(([name, path]) => [name, atPath(event, path)] as const),
    ["aws.events.rule-name", rule.name],
    ["aws.events.rule-arn", rule.arn],
    ["aws.events.event.ingestion-time", event["time"]],
    // The whole event without its detail.
    ["aws.events.event", { ...event, detail: undefined }],
    ["aws.events.event.json", event],
  ]);
  return fill(InputTemplate, variables);
}

/**
 * Replaces `<name>` by the value of a variable. Outside quotes it becomes the value's JSON (`null` if there is none),
 * and inside quotes the value's text (empty if there is none). An unknown `<name>` stays.
 */
function fill(template: string, variables: ReadonlyMap<string, unknown>): string {
  let quoted = false;
  return template.replace(/\\.|"|<([^<>\s]+)>/gs, (match, name: string | undefined) => {
    if (match === '"') quoted = !quoted;
    if (name === undefined || !variables.has(name)) return match;
    const value = variables.get(name);
    if (!quoted) return JSON.stringify(value ?? null);
    const text = typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
    return JSON.stringify(text).slice(1, -1);
  });
}

/**
 * Returns the value at a path such as `$`, `$.detail.name`, `$.resources[0]` or `$.detail['a b']`. Returns undefined if
 * the event has no such value.
 */
function atPath(event: unknown, path: string): unknown {
  let value = event;
  for (const step of parsePath(path) ?? []) {
    if (Array.isArray(value)) value = value[Number(step)];
    else value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

/** Parses a path into its steps. Returns undefined if EventBridge does not accept it. */
export function parsePath(path: string): readonly string[] | undefined {
  if (!/^\$(\.[\w-]+|\[\d+\]|\['[^']+'\])*$/.test(path)) return undefined;
  return [...path.matchAll(/\.([\w-]+)|\[(\d+)\]|\['([^']+)'\]/g)].map(
    ([, name, index, quoted]) => name ?? index ?? quoted!,
  );
}
