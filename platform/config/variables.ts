import * as z from "zod";
import type { DeepReadonly } from "../../core/shapes";
import { ConfigurationError } from "./errors";

export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable of the environment: its name, the schema that reads its text, and the text of a value. */
class Variable<Value> {
  constructor(
    readonly name: string,
    readonly schema: z.ZodType<Value>,
    readonly textOf: (value: NonNullable<Value>) => string,
  ) {}
}

type ValueOf<Node> = Node extends Variable<infer Value> ? DeepReadonly<Value> : ConfigOf<Node>;

/** The configuration that variables hold, in their shape. */
export type ConfigOf<Variables> = {
  readonly [Key in keyof Variables as undefined extends ValueOf<Variables[Key]> ? never : Key]: ValueOf<Variables[Key]>;
} & {
  readonly [Key in keyof Variables as undefined extends ValueOf<Variables[Key]> ? Key : never]?: ValueOf<
    Variables[Key]
  >;
};

const notEmpty = z.string().min(1);

/** Defines a variable. By default, its value is a text that is not empty. */
export function variable<Value = string>(
  name: string,
  schema = notEmpty as z.ZodType as z.ZodType<Value>,
  textOf: (value: NonNullable<Value>) => string = String,
): Variable<Value> {
  return new Variable(name, schema, textOf);
}

/** @throws ConfigurationError with every problem */
export function readVariables<Variables extends object>(
  variables: Variables,
  environment: Environment,
): ConfigOf<Variables> {
  const schemas = leavesOf(variables).map(([{ name, schema }]) => [name, schema] as const);
  const values = parseEnvironment(z.object(Object.fromEntries(schemas)), environment);
  const read = (node: object): unknown =>
    node instanceof Variable
      ? values[node.name]
      : Object.fromEntries(Object.entries(node).map(([key, child]) => [key, read(child)]));
  return read(variables) as ConfigOf<Variables>;
}

/** Returns the environment that `readVariables` reads as the configuration. */
export function writeVariables<Variables extends object>(
  variables: Variables,
  config: ConfigOf<Variables>,
): Readonly<Record<string, string>> {
  const known = leavesOf(variables, config).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known.map(([{ name, textOf }, value]) => [name, textOf(value as never)]));
}

/** Returns each variable with its value in the configuration. */
function leavesOf(node: object, config?: unknown): readonly (readonly [Variable<unknown>, unknown])[] {
  if (node instanceof Variable) return [[node, config]];
  const values = (config ?? {}) as Readonly<Record<string, unknown>>;
  return Object.entries(node).flatMap(([key, child]) => leavesOf(child, values[key]));
}

/** @throws ConfigurationError with every problem */
export function parseEnvironment<Schema extends z.ZodType>(schema: Schema, environment: Environment): z.output<Schema> {
  const parsed = schema.safeParse(environment);
  if (parsed.success) return parsed.data;
  throw new ConfigurationError(parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`));
}
