import type { IncomingMessage, ServerResponse } from "node:http";
import type { Caller } from "./iam/caller";

/**
 * One emulated AWS service. The front server (`local/front.ts`) picks it by the service name in the request's signature
 * scope (or by `X-Amz-Target`), and hands it the raw request; the service speaks its own wire protocol, errors included.
 */
export interface Service {
  /** The service's name in a signature's scope: `dynamodb`, `s3`, `states`, `batch`, `events`, `scheduler`, `lambda`, `logs`, `sts`, `sns`, `iam`. */
  readonly signingName: string;
  /** @param caller whoever holds temporary keys: every operation must be authorized by it. Undefined: a person, who may do everything. */
  handle(request: IncomingMessage, response: ServerResponse, caller?: Caller): Promise<void>;
  /** Stops timers and closes files. What was acknowledged is on disk already: `kill -9` must be as good as this. */
  close(): Promise<void>;
}

/** Where a service publishes the events that it emits on AWS's default event bus. Delivery is at least once. */
export interface EventSink {
  put(event: EmittedEvent): void;
}

/** An AWS event before the bus has stamped it with id, time, region and account. */
export interface EmittedEvent {
  readonly source: string;
  readonly detailType: string;
  readonly resources: readonly string[];
  readonly detail: unknown;
}

/** How services call functions, as Step Functions and EventBridge do on AWS. */
export interface FunctionInvoker {
  /**
   * Synchronous invocation (`RequestResponse`).
   * `functionError` is set, and `payload` is Lambda's error object, when the handler failed. Rejects when there is no such function.
   */
  invoke(functionName: string, payload: unknown, signal?: AbortSignal): Promise<FunctionResult>;
  /** Asynchronous invocation (`Event`): queued durably, retried twice. */
  invokeAsync(functionName: string, payload: unknown): Promise<void>;
}

export interface FunctionResult {
  readonly payload: unknown;
  readonly functionError?: string;
}
