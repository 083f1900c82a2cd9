import * as z from "zod";
import { ConfigurationError } from "./errors";

const schema = z.object({
  RINGMASTER_HOOKS_ALLOW_LOOPBACK: z.enum(["0", "1"]).default("0"),
  RINGMASTER_STACK_PORTS: z
    .string()
    .default("")
    .transform((text) => (text === "" ? [] : text.split(",").map(Number)))
    .pipe(z.array(z.int().min(1).max(65_535))),
});

/** Permitted targets of hooks in addition to the public internet. */
export interface HookTargets {
  /** Permits plain http and https to this machine's loopback addresses, except to `ownPorts`. Only on one machine. */
  readonly allowLoopback: boolean;
  /** Ports of the stack itself, to which no hook is sent. */
  readonly ownPorts: readonly number[];
}

/** Targets on AWS: only the public internet. */
export const publicTargets: HookTargets = { allowLoopback: false, ownPorts: [] };

/** @throws ConfigurationError with every problem */
export function readHookTargets(environment: Readonly<Record<string, string | undefined>>): HookTargets {
  const parsed = schema.safeParse(environment);
  if (!parsed.success) {
    throw new ConfigurationError(parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`));
  }
  const { RINGMASTER_HOOKS_ALLOW_LOOPBACK: allow, RINGMASTER_STACK_PORTS: ownPorts } = parsed.data;
  return { allowLoopback: allow === "1", ownPorts };
}

/** The inverse of `readHookTargets`. */
export function hookEnvironment({ allowLoopback, ownPorts }: HookTargets): Readonly<Record<string, string>> {
  return {
    RINGMASTER_HOOKS_ALLOW_LOOPBACK: allowLoopback ? "1" : "0",
    RINGMASTER_STACK_PORTS: ownPorts.join(","),
  };
}
