import * as z from "zod";
import type { Json } from "./json";
import { compile, jsonataMessage } from "./query/jsonata";
import { expressionIn } from "./query/template";

export const resources: readonly string[] = [
  "arn:aws:states:::lambda:invoke",
  "arn:aws:states:::lambda:invoke.waitForTaskToken",
];

const maxCount = 99_999_999;
const text = z.string();
const whole = (min: number, max = maxCount) => z.int().min(min).max(max);
const jsonataOnly = z.literal("JSONata", { error: "the embedded Step Functions implement JSONata only" });

/** Reports each wrong JSONata expression of a template. */
function checkTemplate({ value, issues }: z.core.ParsePayload): void {
  const visit = (inner: unknown, path: readonly PropertyKey[]): void => {
    if (typeof inner === "object" && inner !== null) {
      for (const [key, one] of Object.entries(inner)) visit(one, [...path, Array.isArray(inner) ? Number(key) : key]);
    } else if (typeof inner === "string") {
      const message = expressionProblem(inner);
      if (message !== undefined)
        issues.push({ code: "custom", input: inner, path: [...path], message, continue: true });
    }
  };
  visit(value, []);
}

function expressionProblem(given: string): string | undefined {
  const expression = expressionIn(given);
  if (expression === undefined) {
    const trimmed = given.trim();
    if (!trimmed.startsWith("{%") && !trimmed.endsWith("%}")) return undefined;
    return "a JSONata expression must start with '{%' and end with '%}', without spaces around them";
  }
  if (expression === "") return "the JSONata expression is empty";
  if (/(^|[^\w$])\$\$(?![\w$])/.test(expression.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""'))) {
    return "'$$' is not supported in a JSONata expression: use $states.input";
  }
  try {
    compile(expression);
    return undefined;
  } catch (error) {
    return `the JSONata expression is invalid: ${jsonataMessage(error)}`;
  }
}

const template = z.custom<Json>().check(checkTemplate as never);
const textTemplate = text.check(checkTemplate as never);
const count = (min: number) => {
  const error = `must be a whole number between ${min} and ${maxCount}, or a JSONata expression`;
  const expression = text.refine((value) => expressionIn(value) !== undefined, { error }).check(checkTemplate as never);
  return z.union([whole(min), expression], { error });
};

const variable = /^[\p{ID_Start}_][\p{ID_Continue}]{0,79}$/u;
const assign = z.record(text, template).check(({ value, issues }) => {
  for (const name of Object.keys(value)) {
    if (variable.test(name) && name !== "states") continue;
    const message = name === "states" ? "the variable name 'states' is reserved" : `invalid variable name '${name}'`;
    issues.push({ code: "custom", input: value, path: [name], message });
  }
});

const handler = { ErrorEquals: z.array(text).min(1), Comment: text.optional() };
const retrier = z.strictObject({
  ...handler,
  IntervalSeconds: whole(1).optional(),
  MaxAttempts: whole(0).optional(),
  BackoffRate: z.number().min(1).optional(),
  MaxDelaySeconds: whole(1, 31_622_400).optional(),
  JitterStrategy: z.enum(["FULL", "NONE"]).optional(),
});
const catcher = z.strictObject({ ...handler, Next: text, Assign: assign.optional(), Output: template.optional() });
const handlers = <Handler extends typeof retrier | typeof catcher>(one: Handler) =>
  z.array(one).check(({ value, issues }) => {
    for (const [at, { ErrorEquals: names }] of value.entries()) {
      if (!names.includes("States.ALL") || (names.length === 1 && at === value.length - 1)) continue;
      const message = "States.ALL must appear alone, in the last element of the list";
      issues.push({ code: "custom", input: names, path: [at, "ErrorEquals"], message });
    }
  });
const choiceRule = z.strictObject({
  Condition: z.union([z.boolean(), textTemplate]),
  Next: text,
  Assign: assign.optional(),
  Output: template.optional(),
  Comment: text.optional(),
});

/** The fields that a state may have, by type, in JSONata (https://states-language.net/spec.html). */
const transition = ["Next", "End"];
const recovery = ["Retry", "Catch"];
const fields = {
  Pass: [...transition, "Output", "Assign"],
  Task: [...transition, ...recovery, "Resource", "Arguments", "Output", "Assign", "TimeoutSeconds", "HeartbeatSeconds"],
  Choice: ["Choices", "Default", "Output", "Assign"],
  Wait: [...transition, "Seconds", "Timestamp", "Output", "Assign"],
  Succeed: ["Output"],
  Fail: ["Error", "Cause"],
  Parallel: [...transition, ...recovery, "Branches", "Arguments", "Output", "Assign"],
  Map: [
    ...[...transition, ...recovery, "ItemProcessor", "Items", "ItemSelector", "MaxConcurrency", "Output", "Assign"],
    "Label",
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;
/** Groups of which a state must have exactly one, if its type has the group. */
const required = [transition, ["Resource"], ["Choices"], ["Seconds", "Timestamp"], ["Branches"], ["ItemProcessor"]];

export type StateType = keyof typeof fields;

/** Values that a state of any type may have. Other fields of AWS are refused, not ignored. */
const values = z.strictObject({
  Type: z.enum(Object.keys(fields) as StateType[]),
  QueryLanguage: jsonataOnly.optional(),
  Comment: text.optional(),
  Next: text.optional(),
  End: z.literal(true).optional(),
  Retry: handlers(retrier).optional(),
  Catch: handlers(catcher).optional(),
  Assign: assign.optional(),
  Arguments: template.optional(),
  Output: template.optional(),
  Items: template.optional(),
  ItemSelector: template.optional(),
  Resource: z.enum(resources).optional(),
  TimeoutSeconds: count(1).optional(),
  HeartbeatSeconds: count(1).optional(),
  Seconds: count(0).optional(),
  Timestamp: textTemplate.optional(),
  Choices: z.array(choiceRule).min(1).optional(),
  Default: text.optional(),
  MaxConcurrency: count(0).optional(),
  /** The name of the child executions of a distributed Map. */
  Label: text.regex(/^[\w.-]{1,40}$/, "must be 1 to 40 letters, digits, or any of _ . -").optional(),
  Error: textTemplate.optional(),
  Cause: textTemplate.optional(),
});

export interface State extends z.output<typeof values> {
  readonly Branches?: readonly Container[];
  readonly ItemProcessor?: Container;
}

export interface Container {
  readonly StartAt: string;
  readonly States: Readonly<Record<string, State>>;
  readonly ProcessorConfig?: z.output<typeof processorConfig>;
}

const processorConfig = z
  .strictObject({ Mode: z.enum(["INLINE", "DISTRIBUTED"]).optional(), ExecutionType: z.literal("STANDARD").optional() })
  .refine(({ Mode, ExecutionType }) => (Mode === "DISTRIBUTED") === (ExecutionType !== undefined), {
    error: "must have ExecutionType STANDARD with DISTRIBUTED, and none with INLINE",
  })
  .optional();
const branch: z.ZodType<Container> = z.lazy(() => z.strictObject({ ...scope, Comment: text.optional() }));
const processor: z.ZodType<Container> = z.lazy(() =>
  z.strictObject({ ...scope, Comment: text.optional(), ProcessorConfig: processorConfig }),
);

const state = values
  .extend({ Branches: z.array(branch).min(1).optional(), ItemProcessor: processor.optional() })
  .check(({ value, issues }) => {
    const add = (message: string, ...path: string[]) => issues.push({ code: "custom", input: value, path, message });
    const {
      Type: type,
      TimeoutSeconds: timeout,
      HeartbeatSeconds: heartbeat,
      Label: label,
      ItemProcessor: items,
    } = value;
    const allowed: readonly string[] = fields[type];
    const present = Object.keys(value).filter((name) => !["Type", "QueryLanguage", "Comment"].includes(name));
    for (const name of present) if (!allowed.includes(name)) add(`a ${type} has no field '${name}'`, name);
    for (const group of required) {
      const found = group.filter((name) => present.includes(name));
      if (group.every((name) => allowed.includes(name)) && found.length !== 1)
        add(`must have ${group.length > 1 ? "exactly one of " : ""}${group.join(", ")}`);
    }
    if (typeof timeout === "number" && typeof heartbeat === "number" && heartbeat >= timeout)
      add("must be smaller than TimeoutSeconds", "HeartbeatSeconds");
    if (label !== undefined && items?.ProcessorConfig?.Mode !== "DISTRIBUTED")
      add("is only supported in DISTRIBUTED mode", "Label");
  });

const scope = {
  StartAt: text,
  States: z
    .record(text.max(80), state)
    .refine((states) => Object.keys(states).length > 0, "must have at least one state"),
};
export const stateMachine = z.strictObject({
  ...scope,
  Comment: text.optional(),
  Version: z.literal("1.0").optional(),
  /** The default of AWS, JSONPath, is not implemented. */
  QueryLanguage: jsonataOnly,
  TimeoutSeconds: whole(1).optional(),
});

export type StateMachine = z.output<typeof stateMachine>;
export type Retrier = z.output<typeof retrier>;
export type Catcher = z.output<typeof catcher>;
export type ChoiceRule = z.output<typeof choiceRule>;
