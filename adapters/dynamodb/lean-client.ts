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
import { fromWire, toWire } from "./lean-values";

/** The command classes and their names in the protocol. */
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

/** The address to which the SDK sends requests. */
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
  return { protocol, hostname, path, ...(port === undefined ? {} : { port }) };
}

/** The request has no usable answer. The SDK repeats it and determines the error. */
class NotAnswered extends Error {}

/** Adds an idempotency token, so that a repeated transaction, by this code or by the SDK, is applied once. */
function withToken(command: Document): Document {
  const input = { ClientRequestToken: randomUUID(), ...command.input };
  return new TransactWriteCommand(input as ConstructorParameters<typeof TransactWriteCommand>[0]);
}

type Metadata = DynamoDBServiceException["$metadata"];

/**
 * Returns the error that the SDK would throw for a failed condition. The SDK itself handles cancellation reasons with
 * items.
 */
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
