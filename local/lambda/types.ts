import type { LogAppender, StoredServiceOptions } from "../service";

export interface FunctionConfig {
  readonly name: string;
  /** The absolute path of a CommonJS bundle that exports `handler`. */
  readonly bundle: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The timeout: 1–900 s. The default is 3, as in Lambda. */
  readonly timeoutSeconds?: number;
  readonly memoryMb?: number;
}

export interface LambdaOptions extends StoredServiceOptions {
  readonly functions: readonly FunctionConfig[];
  readonly logs?: LogAppender;
  /** The bundle of `runtime.ts`. The default is `lambda-runtime.js` next to the running bundle. */
  readonly runtimePath?: string;
  readonly maxEnvironments?: number;
  /** The number of environments of a function that may start at once. The default is half of the processor's cores. */
  readonly maxStarting?: number;
  /** The time after which an idle environment is removed. The default is 60 s. */
  readonly idleMs?: number;
  /** The delays before the retries of an asynchronous invocation. The default is 1 and 2 minutes, as in Lambda. */
  readonly asyncRetryDelaysMs?: readonly number[];
}

/**
 * The outcome of an invocation. `payload` is JSON text: the handler's result, or Lambda's error object if
 * `functionError` is set.
 */
export interface InvocationOutcome {
  readonly payload: string;
  readonly functionError?: "Unhandled";
  /** The last 4 KB of this invocation's log. */
  readonly logTail: string;
}

export interface FunctionError {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
}

export interface InvokeMessage {
  readonly type: "invoke";
  readonly requestId: string;
  readonly payload: string;
  readonly deadline: number;
}

/** The messages from the execution environment to the stack. */
export type RuntimeMessage =
  | { readonly type: "ready" }
  | { readonly type: "init-error"; readonly error: FunctionError }
  | { readonly type: "result"; readonly requestId: string; readonly payload: string; readonly rssMb: number }
  | {
      readonly type: "error";
      readonly requestId: string;
      readonly error: FunctionError;
      readonly rssMb: number;
      readonly fatal: boolean;
    };

/**
 * The marker that the runtime writes to both outputs when an invocation has ended. It separates the invocation's last
 * lines from later ones.
 */
export const endOfOutput = "\u0000end-of-invocation";

export const syncPayloadLimit = 6 * 1024 * 1024 + 100;
export const responseLimit = 6_291_556;
export const asyncPayloadLimit = 1024 * 1024;

/** Makes the runtime watch for the end of the stack, where the kernel does not (`end-with-parent.ts`). */
export const watchParentOption = "--watch-parent";
