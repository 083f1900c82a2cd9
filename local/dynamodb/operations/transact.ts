import { createHash } from "node:crypto";
import {
  type CancellationReason,
  DynamoDbError,
  idempotentParameterMismatch,
  transactionCanceled,
  validation,
} from "../errors";
import { forgetKey, tokenKey } from "../store/maintenance";
import type { Draft } from "../store/store";
import { itemBytes } from "../value/size";
import { readExpressions } from "../wire/expressions";
import type { Fields } from "../wire/fields";
import type { Context, Operation } from "./context";
import { apply, checkCondition, type ItemWrite, type PreparedWrite, prepare } from "./write";

const maxActions = 100;
const maxBytes = 4 * 1024 * 1024;
const tokenLifeMs = 10 * 60 * 1000;

export const transactWriteItems: Operation = async (context, fields) => {
  const token = fields.string("ClientRequestToken");
  if (token !== undefined && (token.length < 1 || token.length > 36)) {
    fields.breaks("ClientRequestToken", token, "have length less than or equal to 36 and at least 1");
  }
  const writes = readActions(fields).map(readWrite);
  fields.check();
  const digest = token === undefined ? "" : digestOf(fields.any("TransactItems"));
  return context.store.write((draft) => {
    if (token !== undefined && wasDone(context, draft, token, digest)) return {};
    const prepared = writes.map((write) => prepare(draft, context.catalog.get(write.tableName), write));
    requireDistinct(prepared.map(({ found }) => found.key));
    applyAll(draft, prepared);
    if (token !== undefined) remember(context, draft, token, digest);
    return {};
  });
};

/**
 * Returns the digest of a transaction. It sorts members, because clients may send the same JSON members in another
 * order.
 */
function digestOf(actions: unknown): string {
  return createHash("sha256").update(JSON.stringify(actions, sorted)).digest("base64");
}

function sorted(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const members = Object.entries(value);
  return members.length < 2 ? value : Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Applies a transaction. All conditions are checked before the first change. A change that fails by type or size also
 * cancels the transaction.
 */
function applyAll(draft: Draft, prepared: readonly PreparedWrite[]): void {
  cancelIfAny(prepared.map((one) => reasonOf(checkCondition(one))));
  let bytes = 0;
  const reasons = prepared.map((one) => {
    try {
      const next = apply(draft, one);
      if (next) bytes += itemBytes(next);
      return none;
    } catch (error) {
      if (error instanceof DynamoDbError) return reasonOf(error);
      throw error;
    }
  });
  cancelIfAny(reasons);
  if (bytes > maxBytes) throw validation(`Transaction payload size cannot exceed 4MB. Payload Size: ${bytes}`);
}

const none: CancellationReason = { Code: "None" };

function reasonOf(error: DynamoDbError | undefined): CancellationReason {
  if (error === undefined) return none;
  const code = error.code === "ConditionalCheckFailedException" ? "ConditionalCheckFailed" : "ValidationError";
  return { Code: code, Message: error.message, ...(error.members["Item"] ? { Item: error.members["Item"] } : {}) };
}

function cancelIfAny(reasons: readonly CancellationReason[]): void {
  if (reasons.some((reason) => reason !== none)) throw transactionCanceled(reasons);
}

function readActions(fields: Fields): readonly Fields[] {
  const actions = fields.structures("TransactItems");
  if (actions === undefined) return fields.missing("TransactItems", []);
  if (actions.length < 1) fields.breaks("TransactItems", [], "have length greater than or equal to 1");
  if (actions.length > maxActions) {
    fields.breaks("TransactItems", `[${actions.length} items]`, `have length less than or equal to ${maxActions}`);
  }
  fields.check();
  return actions;
}

const actionNames = ["ConditionCheck", "Put", "Update", "Delete"] as const;

function readWrite(action: Fields): ItemWrite {
  const actions = actionNames.filter((name) => action.has(name));
  if (actions.length !== 1) {
    throw validation("TransactItems can only contain one of Check, Put, Update or Delete");
  }
  const name = actions[0]!;
  const fields = action.structure(name)!;
  const common = {
    tableName: fields.tableName(),
    itemOnFailure: fields.choice("ReturnValuesOnConditionCheckFailure", ["ALL_OLD", "NONE"]) === "ALL_OLD",
  };
  if (name === "ConditionCheck") fields.requiredString("ConditionExpression");
  if (name === "Update") fields.requiredString("UpdateExpression");
  const item = fields.requiredItem(name === "Put" ? "Item" : "Key");
  fields.check();
  const { update = [], condition } = readExpressions(
    fields,
    name === "Update" ? ["UpdateExpression", "ConditionExpression"] : ["ConditionExpression"],
  );
  if (name === "Put") return { ...common, kind: "put", item, condition };
  if (name === "Update") return { ...common, kind: "update", key: item, update, condition };
  return { ...common, kind: name === "Delete" ? "delete" : "check", key: item, condition };
}

function requireDistinct(keys: readonly Buffer[]): void {
  if (new Set(keys.map((key) => key.toString("latin1"))).size < keys.length) {
    throw validation("Transaction request cannot include multiple operations on one item");
  }
}

/**
 * The record of a token. A token identifies one set of actions for ten minutes. It is written in the transaction's own
 * batch.
 */
interface Kept {
  readonly digest: string;
  readonly until: number;
}

function wasDone({ clock }: Context, draft: Draft, token: string, digest: string): boolean {
  const stored = draft.get(tokenKey(token));
  const kept = stored === undefined ? undefined : (JSON.parse(stored) as Kept);
  if (!kept || kept.until <= clock.now()) return false;
  if (kept.digest !== digest) throw idempotentParameterMismatch();
  return true;
}

function remember({ clock }: Context, draft: Draft, token: string, digest: string): void {
  const until = clock.now() + tokenLifeMs;
  draft.put(tokenKey(token), JSON.stringify({ digest, until } satisfies Kept));
  draft.put(forgetKey(until, token), token);
}
