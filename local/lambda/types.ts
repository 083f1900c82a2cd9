import type { Clock } from "../clock";
import type { LogAppender } from "../log-appender";

/** One function, as its deployment would configure it. */
export interface FunctionConfig {
  readonly name: string;
  /** Absolute path of a CommonJS bundle that exports `handler`. */
  readonly bundle: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** 1–900. Default 3, as Lambda's. */
  readonly timeoutSeconds?: number;
  /** Default 128. Bounds the JavaScript heap. */
  readonly memoryMb?: number;
  /** Invocations at once beyond which callers are throttled. Without it, callers wait for a free environment. */
  readonly reservedConcurrency?: number;
}

export interface LambdaOptions {
  readonly functions: readonly FunctionConfig[];
  /** The service keeps its files in here: queued asynchronous invocations and their dead letters. */
  readonly dataDirectory: string;
  /** Where the seal of the store lies; by default next to its files. */
  readonly seals?: string;
  readonly logs?: LogAppender;
  readonly clock?: Clock;
  /** Bundle of `runtime.ts`. Default: `lambda-runtime.js` beside the running bundle. */
  readonly runtimePath?: string;
  /** Execution environments a function may have at once; more invocations wait. Default 10. */
  readonly maxEnvironments?: number;
  /** Environments of a function that may start at once. Default: half of the processor's cores. */
  readonly maxStarting?: number;
  /** How long an idle environment is kept warm. Default 60 s. */
  readonly idleMs?: number;
  /** Waits before the retries of an asynchronous invocation. Default 1 and 2 minutes, as Lambda's. */
  readonly asyncRetryDelaysMs?: readonly number[];
}

/** What an invocation gave. `payload` is JSON text: the handler's result, or Lambda's error object when `functionError` is set. */
export interface InvocationOutcome {
  readonly payload: string;
  readonly functionError?: "Unhandled";
  /** The last 4 KB of what this invocation logged. */
  readonly logTail: string;
}

/** Lambda's error object. */
export interface FunctionError {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
}

/** Stack → execution environment. */
export interface InvokeMessage {
  readonly type: "invoke";
  readonly requestId: string;
  /** JSON text. */
  readonly payload: string;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
}

/** Execution environment → stack. */
export type RuntimeMessage =
  | { readonly type: "ready" }
  | { readonly type: "init-error"; readonly error: FunctionError }
  | { readonly type: "result"; readonly requestId: string; readonly payload: string; readonly rssMb: number }
  | {
      readonly type: "error";
      readonly requestId: string;
      readonly error: FunctionError;
      readonly rssMb: number;
      /** The environment ends with it. */
      readonly fatal: boolean;
    };

/** What the runtime writes to both outputs when an invocation has ended, so that its last lines are told from later ones. */
export const endOfOutput = "\u0000end-of-invocation";

/** Lambda's limits, in bytes. */
export const syncPayloadLimit = 6 * 1024 * 1024 + 100;
export const responseLimit = 6_291_556;
export const asyncPayloadLimit = 1024 * 1024;
