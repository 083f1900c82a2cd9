import * as z from "zod";
import { RingmasterError } from "../../core/errors";
import type { DeepReadonly } from "../../core/shapes";

export class ConfigurationError extends RingmasterError {
  constructor(problems: readonly string[]) {
    super(`the configuration is not usable: ${problems.join("; ")}`, {
      code: "CONFIGURATION",
      httpStatus: 500,
      details: { problems },
    });
  }
}

/**
 * Origins of web pages that may call, from `RINGMASTER_CORS_ORIGINS`: `https://console.example.com,https://notebook.example.com`.
 *
 * @throws ConfigurationError
 */
export function readCorsOrigins(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const origins = (environment["RINGMASTER_CORS_ORIGINS"] ?? "").split(",").filter((origin) => origin !== "");
  const wrong = origins.filter((origin) => !URL.canParse(origin) || new URL(origin).origin !== origin);
  if (wrong.length === 0) return origins;
  throw new ConfigurationError(
    wrong.map((origin) => `RINGMASTER_CORS_ORIGINS: ${origin} must be an origin: scheme, host and port`),
  );
}

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
  const leaves = leavesOf(variables, config).filter(([, value]) => value !== undefined);
  return Object.fromEntries(leaves.map(([{ name, textOf }, value]) => [name, textOf(value as never)]));
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

const authorizerVariables = {
  issuer: variable("RINGMASTER_OIDC_ISSUER", z.url({ protocol: /^https$/ })),
  audience: variable("RINGMASTER_OIDC_AUDIENCE"),
  groupsClaim: variable("RINGMASTER_OIDC_GROUPS_CLAIM", z.string().min(1).default("groups")),
};

/** The accepted tokens' issuer and audience, and their claim for the caller's groups. */
export interface AuthorizerConfig extends ConfigOf<typeof authorizerVariables> {}

export const readAuthorizerConfig = (environment: Environment): AuthorizerConfig =>
  readVariables(authorizerVariables, environment);

export const authorizerEnvironment = (config: AuthorizerConfig): Readonly<Record<string, string>> =>
  writeVariables(authorizerVariables, config);

const flag = z
  .enum(["0", "1"])
  .default("0")
  .transform((text) => text === "1");
const ports = z
  .string()
  .default("")
  .transform((text) => (text === "" ? [] : text.split(",").map(Number)))
  .pipe(z.array(z.int().min(1).max(65_535)));

const hookVariables = {
  /** Permits plain http and https to this machine's loopback addresses, except to `ownPorts`. Only on one machine. */
  allowLoopback: variable("RINGMASTER_HOOKS_ALLOW_LOOPBACK", flag, (allow) => (allow ? "1" : "0")),
  /** Ports of the stack itself, to which no hook is sent. */
  ownPorts: variable("RINGMASTER_STACK_PORTS", ports),
};

/** Permitted targets of hooks in addition to the public internet. */
export interface HookTargets extends ConfigOf<typeof hookVariables> {}

/** Targets on AWS: only the public internet. */
export const publicTargets: HookTargets = { allowLoopback: false, ownPorts: [] };

export const readHookTargets = (environment: Environment): HookTargets => readVariables(hookVariables, environment);

export const hookEnvironment = (targets: HookTargets): Readonly<Record<string, string>> =>
  writeVariables(hookVariables, targets);
