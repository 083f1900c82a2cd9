import { isObject } from "../wire";

/** How a target wants its input made out of the event. */
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

/** The JSON text that a target gets: constant, a part of the event, a template filled in from it, or the event. */
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
    // Without the detail, and whole.
    ["aws.events.event", { ...event, detail: undefined }],
    ["aws.events.event.json", event],
  ]);
  return fill(InputTemplate, variables);
}

/**
 * Replaces `<name>`: outside of quotes by the value's JSON (`null` when there is none), within them by the text of it (nothing
 * when there is none). A `<name>` of no variable stays as it is.
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

/** `$`, `$.detail.name`, `$.resources[0]`, `$.detail['a b']`. Undefined where the event has nothing. */
function atPath(event: unknown, path: string): unknown {
  let value = event;
  for (const step of parsePath(path) ?? []) {
    if (Array.isArray(value)) value = value[Number(step)];
    else value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

/** The steps of a path; undefined when it is none that EventBridge takes. */
export function parsePath(path: string): readonly string[] | undefined {
  if (!/^\$(\.[\w-]+|\[\d+\]|\['[^']+'\])*$/.test(path)) return undefined;
  return [...path.matchAll(/\.([\w-]+)|\[(\d+)\]|\['([^']+)'\]/g)].map(
    ([, name, index, quoted]) => name ?? index ?? quoted!,
  );
}
