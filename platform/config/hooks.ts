import * as z from "zod";
import { type ConfigOf, type Environment, readVariables, variable, writeVariables } from "./variables";

const flag = z
  .enum(["0", "1"])
  .default("0")
  .transform((text) => text === "1");
const ports = z
  .string()
  .default("")
  .transform((text) => (text === "" ? [] : text.split(",").map(Number)))
  .pipe(z.array(z.int().min(1).max(65_535)));

const variables = {
  /** Permits plain http and https to this machine's loopback addresses, except to `ownPorts`. Only on one machine. */
  allowLoopback: variable("RINGMASTER_HOOKS_ALLOW_LOOPBACK", flag, (allow) => (allow ? "1" : "0")),
  /** Ports of the stack itself, to which no hook is sent. */
  ownPorts: variable("RINGMASTER_STACK_PORTS", ports),
};

/** Permitted targets of hooks in addition to the public internet. */
export interface HookTargets extends ConfigOf<typeof variables> {}

/** Targets on AWS: only the public internet. */
export const publicTargets: HookTargets = { allowLoopback: false, ownPorts: [] };

/** @throws ConfigurationError with every problem */
export const readHookTargets = (environment: Environment): HookTargets => readVariables(variables, environment);

/** The inverse of `readHookTargets`. */
export const hookEnvironment = (targets: HookTargets): Readonly<Record<string, string>> =>
  writeVariables(variables, targets);
