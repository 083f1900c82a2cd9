import type { Clock } from "./ports";

export type LogLevel = "debug" | "info" | "warn" | "error";

/**
 * Writes structured logs: one JSON object for each line, with fields that identify the subject (`runId`, `requestId`,
 * …).
 */
export interface Logger {
  log(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void;
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

/** Never throws, because a log is needed most when something has failed. */
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
