import { RingmasterError } from "../../core/errors";
import { CorruptObjectError, ObjectNotFoundError, StorageFullError } from "../../core/object-documents";
import { shortMessage, userCodeFailure } from "../../core/runs/training-task";
import { EngineError, ModelError } from "../engine/errors";
import { CheckpointMissingError, TrainingHaltedError } from "../loop/errors";
import { type Interruption, pause } from "./interruption";
import { userFrame } from "./module-source";

type Consequence =
  /** Recorded as the run's `TrainingFailure`. `retryable`: a new attempt may succeed. */
  | {
      readonly kind: "failure";
      readonly code: string;
      readonly message: string;
      readonly step?: number;
      readonly retryable: boolean;
    }
  /** A service or the network was unavailable: this process starts again, and nothing is recorded. */
  | { readonly kind: "try-again"; readonly message: string };

/** Decides whether an error fails the attempt, or whether a new start of this process may succeed. */
export function classifyError(error: unknown): Consequence {
  const consequence = consequenceOf(error);
  return { ...consequence, message: shortMessage(consequence.message) };
}

function consequenceOf(error: unknown): Consequence {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof TrainingHaltedError) {
    const step = error.step === undefined ? {} : { step: error.step };
    return { kind: "failure", code: error.code, message: located(message, error), ...step, retryable: false };
  }
  if (error instanceof ModelError) {
    return { kind: "failure", code: userCodeFailure, message: located(message, error), retryable: false };
  }
  if (error instanceof EngineError) return { kind: "failure", code: error.code, message, retryable: error.retryable };
  if (error instanceof CheckpointMissingError || error instanceof StorageFullError || isUnreachable(error))
    return { kind: "try-again", message };
  if (error instanceof CorruptObjectError || error instanceof ObjectNotFoundError) {
    return { kind: "failure", code: error.code, message, retryable: false };
  }
  if (error instanceof RingmasterError) {
    return { kind: "failure", code: error.code, message, retryable: error.retryable };
  }
  return { kind: "failure", code: "TRAINER_ERROR", message, retryable: true };
}

/** Whether a step failed before it changed the state: its loss or gradient was not finite, or user code failed. */
export function failedBeforeUpdate(error: unknown): boolean {
  return error instanceof ModelError || (error instanceof TrainingHaltedError && error.code.startsWith("NON_FINITE_"));
}

/** Adds the line of the user's code that threw, if there is one. */
function located(message: string, error: Error): string {
  const frame = userFrame(error.cause);
  return frame === undefined ? message : `${message} (at ${frame})`;
}

/** Whether a service was unreachable. The AWS SDK's errors carry `$metadata`; their causes are Node's network errors. */
function isUnreachable(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  if ("$metadata" in error) return true;
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  const network = ["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH"];
  return network.includes(String(code)) || (cause !== undefined && isUnreachable(cause));
}

const pauseMs = 5_000;
/** Long enough for an operator to free a disk or for a service to recover. Then a new attempt continues from the checkpoint. */
const attempts = 120;

/** Retries an action while a service is unavailable or full: a short outage must not end a long training. */
export async function retry<T>(
  action: () => Promise<T>,
  onFailure: (error: unknown) => void,
  interruption: Interruption,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await action();
    } catch (error) {
      if (classifyError(error).kind !== "try-again" || attempt === attempts || interruption.raised) throw error;
      onFailure(error);
      await pause(interruption, pauseMs);
    }
  }
}
