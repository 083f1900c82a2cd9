import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import type { Clock } from "./clock";
import type { Caller } from "./iam/caller";
import { makeDirectory } from "./storage/directory";
import { JsonDatabase } from "./storage/json-database";

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
  close(): Promise<void>;
}

export interface StoredServiceOptions {
  readonly dataDirectory: string;
  readonly clock?: Clock;
}

export interface StoredService extends Service {
  readonly ready: Promise<void>;
}

export class ServiceStore<V = unknown> {
  readonly db: JsonDatabase<V>;
  private ready: Promise<void> = Promise.resolve();

  constructor(store: string, { dataDirectory }: StoredServiceOptions) {
    makeDirectory(dataDirectory);
    this.db = new JsonDatabase({ directory: join(dataDirectory, `${store}.level`), store });
  }

  open(load: () => Promise<void>): Promise<void> {
    this.ready = this.db.open().then(load);
    // The callers that await it get the error. Without callers it must not end the process.
    this.ready.catch(() => undefined);
    return this.ready;
  }

  async close(service?: () => Promise<void>): Promise<void> {
    await this.ready.catch(() => undefined);
    await service?.();
    await this.db.close();
  }
}

/** The event bus that services publish to, like AWS's default event bus. Delivery is at least once. */
export interface EventSink {
  put(event: EmittedEvent): void;
  /** Returns whether a rule matches the event. Others reach nobody, so that nothing has to be stored for them. */
  matches?(event: EmittedEvent): boolean;
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

/** The destination of processes' output, like CloudWatch Logs on AWS. */
export interface LogAppender {
  /**
   * Appends lines in order, and creates the group and the stream if they do not exist. Never throws, because a lost log
   * line must not fail its caller.
   */
  append(group: string, stream: string, events: readonly LogLine[]): void;
}

export interface LogLine {
  /** The time in milliseconds since the epoch. */
  readonly timestamp: number;
  readonly message: string;
}
