import { createHash } from "node:crypto";
import { type Delivery, DurableQueue, type DurableQueueOptions, type Queued } from "../durable-queue";
import type { FunctionInvoker } from "../service";
import { ServiceError } from "../wire";

/** Creates the durable queue of the deliveries of rules and schedules. */
export function createTargetQueue(
  ports: TargetPorts,
  options: Pick<DurableQueueOptions<TargetMessage>, "db" | "clock" | "deadLetters">,
): DurableQueue<TargetMessage> {
  const { clock } = options;
  return new DurableQueue({
    ...options,
    prefix: "delivery!",
    deliver: (queued) => deliver(ports, queued, clock.now()),
  });
}

/**
 * Starts an execution for a rule or schedule. A name that was used before with the same input means the same execution.
 */
export type StartExecution = (stateMachineArn: string, input: string, name: string) => Promise<unknown>;

export interface TargetPorts {
  readonly functions: FunctionInvoker;
  readonly startExecution: StartExecution;
}

export interface Timetable {
  readonly kind: "rate" | "cron" | "at";
  /**
   * Returns the first firing after a time, in milliseconds since the epoch. Undefined if there is none.
   * @param options see `nextFire` of the expressions
   */
  next(
    after: number,
    options: {
      readonly base: number;
      readonly atBase?: boolean;
      readonly timeZone?: string;
      readonly start?: number;
      readonly end?: number;
    },
  ): number | undefined;
}

/** Parses `rate(…)`, `cron(…)` or `at(…)`. Throws an error that states the violated rule. */
export type ParseSchedule = (expression: string) => Timetable;

export interface RetryPolicy {
  readonly MaximumRetryAttempts?: number;
  readonly MaximumEventAgeInSeconds?: number;
}

export interface TargetMessage {
  readonly arn: string;
  readonly input: string;
  readonly retryPolicy?: RetryPolicy;
}

/** The defaults of EventBridge and EventBridge Scheduler for retries and for the age of an input. */
const maxRetries = 185;
const maxAgeSeconds = 86_400;
const maxDelayMs = 300_000;

export type TargetKind = "lambda" | "states";

export function targetKind(arn: string): TargetKind | undefined {
  if (/^arn:aws[\w-]*:lambda:[^:]*:[^:]*:function:.+$/.test(arn)) return "lambda";
  if (/^arn:aws[\w-]*:states:[^:]*:[^:]*:stateMachine:.+$/.test(arn)) return "states";
  return undefined;
}

/**
 * Delivers an input to its target once. The name of an execution is derived from its trigger, so that a second delivery
 * does not start a second execution.
 */
export async function deliver(ports: TargetPorts, queued: Queued<TargetMessage>, now: number): Promise<Delivery> {
  const { arn, input, retryPolicy } = queued.item;
  try {
    if (targetKind(arn) === "lambda") await ports.functions.invokeAsync(arn, parse(input));
    else await ports.startExecution(arn, input, executionName(queued.id));
    return { outcome: "done" };
  } catch (error) {
    if (nameOf(error) === "ExecutionAlreadyExists") return { outcome: "done" };
    const message = `${nameOf(error)}: ${error instanceof Error ? error.message : error}`;
    const isExpired = now - queued.addedAt >= (retryPolicy?.MaximumEventAgeInSeconds ?? maxAgeSeconds) * 1000;
    const isExhausted = queued.attempts >= (retryPolicy?.MaximumRetryAttempts ?? maxRetries);
    if (isExpired || isExhausted || !isRetryable(error)) return { outcome: "dead", error: message };
    return { outcome: "retry", delayMs: Math.min(maxDelayMs, 1000 * 2 ** queued.attempts), error: message };
  }
}

function executionName(id: string): string {
  return createHash("sha256").update(id).digest("hex");
}

function parse(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

function nameOf(error: unknown): string {
  if (error instanceof ServiceError) return error.code;
  return error instanceof Error ? error.name : "Error";
}

/**
 * Returns whether a delivery may succeed later. Throttling, server errors and broken connections may pass, but a
 * refusal by the target is final.
 */
function isRetryable(error: unknown): boolean {
  if (error instanceof ServiceError) return error.retryable;
  const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
  return status === undefined || status === 429 || status >= 500 || /Throttl|TooManyRequests/.test(nameOf(error));
}
