import { setTimeout as sleep } from "node:timers/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createPause } from "../../core/backoff";
import { sharedPort } from "../port";
import { sendLean } from "./lean-client";

/** The maximum length of an id: above any client's id and below the limit on keys. A longer id matches nothing. */
export const maxIdLength = 255;

/**
 * Creates a document client with JavaScript's conventions: `undefined` members are omitted, and numbers are doubles.
 */
export function createDocumentClient(client: DynamoDBClient = new DynamoDBClient({})): DynamoDBDocumentClient {
  const documents = DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true, allowImpreciseNumbers: true },
    // Otherwise a whole number past 2^53, e.g. a diverging loss, would be returned as a bigint, which JSON does not
    // support.
    unmarshallOptions: { wrapNumbers: Number },
  });
  return sendLean(documents, client);
}

/** Awaits a conditional write. Returns true if it was made, and false if its condition did not hold. */
export async function holds(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (isConditionFailed(error)) return false;
    throw error;
  }
}

export function isConditionFailed(error: unknown): boolean {
  return error instanceof Error && error.name === "ConditionalCheckFailedException";
}

/**
 * Returns whether a transaction was cancelled because a condition did not hold, and not by throttling or a conflict.
 */
export function isTransactionConditionFailed(error: unknown): boolean {
  return cancellationCodes(error).includes("ConditionalCheckFailed");
}

/** Returns whether the transaction can be retried unchanged: after another one on the same rows, or throttling. */
export function isTransactionConflict(error: unknown): boolean {
  const codes = cancellationCodes(error);
  return ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"].some((code) =>
    codes.includes(code),
  );
}

export function cancellationCodes(error: unknown): readonly (string | undefined)[] {
  if (!(error instanceof Error) || error.name !== "TransactionCanceledException") return [];
  const { CancellationReasons } = error as Error & { CancellationReasons?: readonly { Code?: string }[] };
  return (CancellationReasons ?? []).map((reason) => reason.Code);
}

export const documents = sharedPort({ make: () => createDocumentClient() });

export const pauseBeforeRound = createPause({ firstMs: 10, maxMs: 2_000 }, sleep, Math.random);
