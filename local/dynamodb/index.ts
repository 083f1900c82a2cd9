import type { IncomingMessage, ServerResponse } from "node:http";
import { crc32 } from "node:zlib";
import { type Clock, systemClock } from "../clock";
import { dynamoDbAccesses } from "../iam/access/dynamodb";
import { AccessDenied, type Caller } from "../iam/caller";
import { JsonLimitError, parseJson } from "../json";
import type { Service, StoredServiceOptions } from "../service";
import { DamagedRecordError } from "../storage/damage";
import { BodyTooLarge, readBody } from "../wire";
import { accessDenied, DynamoDbError, internalError, serialization, unknownOperation, validation } from "./errors";
import { operations } from "./operations";
import type { Context } from "./operations/context";
import { Catalog } from "./store/catalog";
import { describeKey } from "./store/describe-key";
import { Maintenance } from "./store/maintenance";
import { Store } from "./store/store";
import { toDefinition } from "./store/table";
import { Fields } from "./wire/fields";

const maxBodyBytes = 16 * 1024 * 1024;
const target = "DynamoDB_20120810.";
const unimplemented = ["ReturnConsumedCapacity", "ReturnItemCollectionMetrics", "Select"];

/**
 * Serves DynamoDB's protocol, AWS JSON 1.0: the operation is in X-Amz-Target, and the input and output are JSON bodies.
 */
async function serve(
  context: Context,
  request: IncomingMessage,
  response: ServerResponse,
  caller?: Caller,
): Promise<void> {
  try {
    const body = await readBody(request, maxBodyBytes);
    const name = String(request.headers["x-amz-target"] ?? "");
    const operation = name.startsWith(target) ? operations.get(name.slice(target.length)) : undefined;
    if (request.method !== "POST" || !operation) throw unknownOperation();
    const input = parse(body);
    if (caller) authorize(caller, name.slice(target.length), input, context);
    await context.store.readable();
    const fields = Fields.of(input);
    fields.refuse("leave the parameter out", ...unimplemented);
    const answer = await operation(context, fields);
    send(response, 200, typeof answer === "string" ? answer : JSON.stringify(answer));
  } catch (error) {
    // The client has disconnected before the end of its request, so there is nobody to answer.
    if (request.destroyed && !request.complete) return;
    const refusal = toDynamoDbError(error, context);
    const body = { __type: refusal.type, message: refusal.message, Message: refusal.message, ...refusal.members };
    send(response, refusal.httpStatus, JSON.stringify(body));
  }
}

function authorize(caller: Caller, operation: string, input: unknown, { catalog }: Context): void {
  if (typeof input !== "object" || input === null) throw serialization("The request body is not a JSON object");
  const keyOf = (table: string) => catalog.find(table)?.key.hash.name;
  for (const access of dynamoDbAccesses(operation, input as Readonly<Record<string, unknown>>, keyOf))
    caller.authorize(access);
}

function parse(body: Buffer): unknown {
  try {
    return parseJson(body.toString("utf8"));
  } catch (error) {
    if (error instanceof JsonLimitError) throw validation(`The request body ${error.rule}`);
    throw serialization("The request body is not JSON");
  }
}

function toDynamoDbError(error: unknown, { catalog }: Context): DynamoDbError {
  if (error instanceof DynamoDbError) return error;
  if (error instanceof AccessDenied) return accessDenied(error.message);
  if (error instanceof BodyTooLarge) return new DynamoDbError(serialization("").type, error.message, {}, 413);
  if (error instanceof DamagedRecordError) return damaged(error, catalog);
  const trace = error instanceof Error ? error.stack : String(error);
  process.stderr.write(
    `${JSON.stringify({ level: "error", message: "unexpected exception", service: "dynamodb", trace })}\n`,
  );
  return internalError();
}

function damaged({ key, message: detail }: DamagedRecordError, catalog: Context["catalog"]): DynamoDbError {
  const message = `${describeKey(Buffer.from(key), [...catalog.all()].map(toDefinition))} is damaged. ${detail}`;
  process.stderr.write(`${JSON.stringify({ level: "error", message, service: "dynamodb" })}\n`);
  return new DynamoDbError(internalError().type, message, {}, 500);
}

/** Sends an answer with its checksum, which the SDKs compare with the body. */
function send(response: ServerResponse, status: number, json: string): void {
  const body = Buffer.from(json);
  response.writeHead(status, {
    "content-type": "application/x-amz-json-1.0",
    "content-length": body.length,
    "x-amz-crc32": crc32(body),
  });
  response.end(body);
}

/** Creates the embedded DynamoDB. Only one process at a time can open its directory. docs/adr/002-dynamodb.md lists what it supports. */
export async function createDynamoDb({ dataDirectory, clock = systemClock }: StoredServiceOptions): Promise<Service> {
  const { context, close } = await openDynamoDb(dataDirectory, clock);
  const inFlight = new Set<Promise<void>>();
  return {
    signingName: "dynamodb",
    handle(request, response, caller) {
      const served = serve(context, request, response, caller).finally(() => inFlight.delete(served));
      inFlight.add(served);
      return served;
    },
    async close() {
      await Promise.allSettled(inFlight);
      await close();
    },
  };
}

export interface OpenDynamoDb {
  readonly context: Context;
  close(): Promise<void>;
}

export async function openDynamoDb(dataDirectory: string, clock: Clock): Promise<OpenDynamoDb> {
  const store = await Store.open(dataDirectory);
  const catalog = await Catalog.open(store);
  const maintenance = new Maintenance(store, catalog, clock);
  await maintenance.start();
  return {
    context: { store, catalog, maintenance, clock },
    async close() {
      await maintenance.close();
      await store.close();
    },
  };
}
