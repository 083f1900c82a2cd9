import type { IncomingMessage, ServerResponse } from "node:http";
import type { Caller } from "./iam/caller";

/**
 * An emulated AWS service. The front server (`local/front.ts`) selects it by the service name in the signature's scope,
 * or by `X-Amz-Target`, and passes it the raw request. The service implements its own wire protocol, errors included.
 */
export interface Service {
  /**
   * The service's name in a signature's scope: `dynamodb`, `s3`, `states`, `batch`, `events`, `scheduler`, `lambda`,
   * `logs`, `sts`, `sns`, `iam`.
   */
  readonly signingName: string;
  /**
   * Handles a request.
   * @param caller the holder of temporary keys, who must be authorized for every operation. Undefined for the owner,
   * who may do everything.
   */
  handle(request: IncomingMessage, response: ServerResponse, caller?: Caller): Promise<void>;
  /** Stops timers and closes files. Acknowledged data are already on disk, so `kill -9` loses nothing either. */
  close(): Promise<void>;
}

/** The event bus that services publish to, like AWS's default event bus. Delivery is at least once. */
export interface EventSink {
  put(event: EmittedEvent): void;
}

/** An AWS event before the bus adds its id, time, region and account. */
export interface EmittedEvent {
  readonly source: string;
  readonly detailType: string;
  readonly resources: readonly string[];
  readonly detail: unknown;
}

/** The way in which services call functions, as Step Functions and EventBridge do on AWS. */
export interface FunctionInvoker {
  /**
   * Invokes a function synchronously (`RequestResponse`). If the handler failed, `functionError` is set and `payload`
   * is Lambda's error object. Rejects if the function does not exist.
   */
  invoke(functionName: string, payload: unknown, signal?: AbortSignal): Promise<FunctionResult>;
  /** Invokes a function asynchronously (`Event`). The invocation is queued durably and retried twice. */
  invokeAsync(functionName: string, payload: unknown): Promise<void>;
}

export interface FunctionResult {
  readonly payload: unknown;
  readonly functionError?: string;
}
