import { randomBytes } from "node:crypto";
import { createLogger } from "../core/logging";
import type { Clock } from "../core/ports";
import { readConfig } from "../platform/config/platform";
import { pauseBeforeRound } from "./dynamodb/client";
import type { Scope } from "./port";

export const printLine = (line: string): void => void process.stdout.write(`${line}\n`);

/** Reads and checks the environment of this process. @throws ConfigurationError with every problem at once */
export function readScope(environment: Readonly<Record<string, string | undefined>>): Scope {
  const clock: Clock = { now: () => Date.now() };
  return {
    environment,
    config: readConfig(environment),
    clock,
    logger: createLogger(printLine, clock),
    random: Math.random,
    randomBytes,
    pause: pauseBeforeRound,
  };
}
