import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  type DynamoDBServiceException,
  TransactionCanceledException,
} from "@aws-sdk/client-dynamodb";
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { type Credentials, Signer } from "../signer";

type Attribute = Readonly<Record<string, unknown>>;

/** A value that only the SDK can translate: sets, dates, bigints, classes, non-finite numbers, lists with holes. */
class UnusualValue extends Error {}

const maps: ReadonlySet<string> = new Set(["Item", "Key", "ExpressionAttributeValues", "ExclusiveStartKey"]);
const shownMaps: ReadonlySet<string> = new Set(["Item", "Key", "Attributes", "LastEvaluatedKey"]);
const shownLists: ReadonlySet<string> = new Set(["Items", "Keys"]);

/** Translates the input of a document command to the wire format with attribute values. @throws UnusualValue */
function toWire(input: unknown): unknown {
  if (Array.isArray(input)) return input.map(toWire);
  if (typeof input !== "object" || input === null) return input;
  const wire: Record<string, unknown> = {};
  for (const name in input) {
    const value = (input as Readonly<Record<string, unknown>>)[name];
    if (value === undefined) continue;
    if (maps.has(name)) wire[name] = attributesOf(value);
    else if (name === "Keys") wire[name] = (value as readonly unknown[]).map(attributesOf);
    else wire[name] = toWire(value);
  }
  return wire;
}

/** Translates an answer from the wire format. `Responses` are lists of items by table. */
function fromWire(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(fromWire);
  if (typeof answer !== "object" || answer === null) return answer;
  const output: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(answer)) {
    if (shownMaps.has(name)) output[name] = valuesOf(value as Attribute);
    else if (shownLists.has(name)) output[name] = (value as readonly Attribute[]).map(valuesOf);
    else if (name === "Responses") output[name] = responsesOf(value as Readonly<Record<string, readonly Attribute[]>>);
    else output[name] = fromWire(value);
  }
  return output;
}

function responsesOf(responses: Readonly<Record<string, readonly Attribute[]>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(responses).map(([table, items]) => [table, items.map(valuesOf)]));
}

function attributesOf(values: unknown): Attribute {
  if (!isPlain(values)) throw new UnusualValue();
  const attributes: Record<string, Attribute> = {};
  for (const name in values) {
    const value = values[name];
    if (value !== undefined) attributes[name] = attributeOf(value);
  }
  return attributes;
}

function attributeOf(value: unknown): Attribute {
  switch (typeof value) {
    case "string":
      return { S: value };
    case "number":
      if (!Number.isFinite(value)) throw new UnusualValue();
      return { N: String(value) };
    case "boolean":
      return { BOOL: value };
    case "object":
      if (value === null) return { NULL: true };
      if (Array.isArray(value)) return { L: Array.from(value, attributeOf) };
      if (value instanceof Uint8Array) {
        return { B: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64") };
      }
      return { M: attributesOf(value) };
    default:
      throw new UnusualValue();
  }
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function valuesOf(attributes: Attribute): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const name in attributes) values[name] = valueIn(attributes[name] as Attribute);
  return values;
}

function valueIn(attribute: Attribute): unknown {
  for (const type in attribute) {
    const value = attribute[type];
    switch (type) {
      case "S":
      case "BOOL":
        return value;
      case "N":
        return Number(value);
      case "NULL":
        return null;
      case "B":
        return bytesOf(value as string);
      case "L":
        return (value as readonly Attribute[]).map(valueIn);
      case "M":
        return valuesOf(value as Attribute);
      case "SS":
        return new Set(value as readonly string[]);
      case "NS":
        return new Set((value as readonly string[]).map(Number));
      case "BS":
        return new Set((value as readonly string[]).map(bytesOf));
    }
  }
  throw new UnusualValue();
}

function bytesOf(base64: string): Uint8Array {
  const { buffer, byteOffset, byteLength } = Buffer.from(base64, "base64");
  return new Uint8Array(buffer, byteOffset, byteLength);
}

const operations = new Map<unknown, string>([
  [BatchGetCommand, "BatchGetItem"],
  [BatchWriteCommand, "BatchWriteItem"],
  [DeleteCommand, "DeleteItem"],
  [GetCommand, "GetItem"],
  [PutCommand, "PutItem"],
  [QueryCommand, "Query"],
  [TransactWriteCommand, "TransactWriteItems"],
  [UpdateCommand, "UpdateItem"],
]);

interface Place {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
}

interface Answer {
  readonly statusCode: number;
  readonly body: Readable;
}

interface Document {
  readonly input: object;
}

/**
 * Lets a document client send ordinary commands with a fifth of the SDK's processor time. It uses the same wire
 * protocol, the SDK's connections, credentials and region, and its own signature and value translation. It makes one
 * attempt.
 *
 * The SDK runs a command from the beginning if this attempt gives anything but an answer or a failed condition (an
 * error, throttling, a value of a special type), with its own retries and errors. The SDK also runs the first command,
 * which shows the address of the service.
 */
export function sendLean(documents: DynamoDBDocumentClient, client: DynamoDBClient): DynamoDBDocumentClient {
  const stock = documents.send.bind(documents) as (command: unknown, ...rest: unknown[]) => Promise<unknown>;
  const signer = new Signer("dynamodb");
  let place: Place | undefined;
  client.middlewareStack.add(
    (next) => (args) => {
      place ??= placeOf(args.request as Place);
      return next(args);
    },
    { step: "build", name: "ringmasterLearnsPlace", override: true },
  );

  async function attempt(to: Place, operation: string, input: object): Promise<unknown> {
    const body = Buffer.from(JSON.stringify(toWire(input)));
    const { config } = client;
    const host = to.port === undefined ? to.hostname : `${to.hostname}:${to.port}`;
    const [credentials, region] = await Promise.all([config.credentials() as Promise<Credentials>, config.region()]);
    const request = { host, target: `DynamoDB_20120810.${operation}`, body };
    const headers = signer.sign(request, credentials, region, new Date());
    const sent = { ...to, method: "POST", headers, body, query: {} };
    const { response } = (await config.requestHandler.handle(sent as never)) as unknown as { response: Answer };
    const text = await textOf(response.body);
    const $metadata = { httpStatusCode: response.statusCode, attempts: 1, totalRetryDelay: 0 };
    if (response.statusCode !== 200) throw failedCondition(text, $metadata) ?? new NotAnswered();
    return { ...(fromWire(JSON.parse(text)) as object), $metadata };
  }

  async function send(command: Document, ...rest: unknown[]): Promise<unknown> {
    const operation = operations.get(command.constructor);
    if (!place || operation === undefined || rest.length > 0) return stock(command, ...rest);
    const repeatable = operation === "TransactWriteItems" ? withToken(command) : command;
    try {
      return await attempt(place, operation, repeatable.input);
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException || error instanceof TransactionCanceledException)
        throw error;
      return stock(repeatable);
    }
  }

  return Object.assign(documents, { send });
}

/** Returns the address if it is the root of a server. DynamoDB's protocol uses no other path. */
function placeOf({ protocol, hostname, port, path }: Place): Place | undefined {
  if (path !== "/") return undefined;
  return { protocol, hostname, path, port };
}

/** The request has no usable answer. The SDK repeats it and determines the error. */
class NotAnswered extends Error {}

/** Adds an idempotency token, so that a repeated transaction, by this code or by the SDK, is applied once. */
function withToken(command: Document): Document {
  const input = { ClientRequestToken: randomUUID(), ...command.input };
  return new TransactWriteCommand(input as ConstructorParameters<typeof TransactWriteCommand>[0]);
}

type Metadata = DynamoDBServiceException["$metadata"];

/** Returns the SDK's error for a failed condition. Cancellation reasons with items are left to the SDK. */
function failedCondition(text: string, $metadata: Metadata): Error | undefined {
  const refusal = JSON.parse(text) as Refusal;
  const name = refusal.__type?.split("#").at(-1);
  const message = refusal.message ?? refusal.Message ?? "";
  if (name === "ConditionalCheckFailedException" && !refusal.Item) {
    return new ConditionalCheckFailedException({ message, $metadata });
  }
  const reasons = refusal.CancellationReasons;
  if (name !== "TransactionCanceledException" || !reasons || reasons.some(({ Item }) => Item)) return undefined;
  return new TransactionCanceledException({ message, $metadata, CancellationReasons: [...reasons] });
}

interface Refusal {
  readonly __type?: string;
  readonly message?: string;
  readonly Message?: string;
  readonly Item?: object;
  readonly CancellationReasons?: readonly {
    readonly Code?: string;
    readonly Message?: string;
    readonly Item?: never;
  }[];
}

/** Reads a body. Listeners take less time than an iterator. */
function textOf(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    body.on("data", (chunk: Buffer) => chunks.push(chunk));
    body.once("end", () => resolve((chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString("utf8")));
    body.once("error", reject);
    // Also emitted after the end. An error takes a stack trace.
    body.once("close", () => {
      if (!body.readableEnded) reject(new NotAnswered());
    });
  });
}
