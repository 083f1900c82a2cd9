import type { Clock } from "./ports";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** Structured logs: one JSON object a line, with the fields that say what it is about (`runId`, `requestId`, …). */
export interface Logger {
  log(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** A logger that adds these fields to each line. */
  with(fields: Readonly<Record<string, unknown>>): Logger;
}

/** Names whose values never reach a log. */
const secretName = /token|secret|password|authorization|credential|run_?key/i;

export function createLogger(
  write: (line: string) => void,
  clock: Clock,
  fields: Readonly<Record<string, unknown>> = {},
): Logger {
  return {
    log(level, message, more = {}) {
      const line = { time: new Date(clock.now()).toISOString(), level, message, ...fields, ...more };
      write(textOf(line));
    },
    with: (more) => createLogger(write, clock, { ...fields, ...more }),
  };
}

/** Whatever was handed in, a line comes out: logging is what is left when something has gone wrong. */
function textOf(line: { readonly time: string; readonly level: LogLevel; readonly message: string }): string {
  try {
    return JSON.stringify(line, redact);
  } catch (error) {
    const { time, level, message } = line;
    return JSON.stringify({ time, level, message, fieldsLost: String(error) });
  }
}

function redact(key: string, value: unknown): unknown {
  if (secretName.test(key) && typeof value === "string") return "[redacted]";
  if (value instanceof Error) {
    return { name: value.name, message: value.message, stack: value.stack, cause: value.cause };
  }
  return value;
}
