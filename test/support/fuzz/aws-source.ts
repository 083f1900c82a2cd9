import { types } from "node:util";
import * as batch from "@aws-sdk/client-batch";
import * as logs from "@aws-sdk/client-cloudwatch-logs";
import * as dynamodb from "@aws-sdk/client-dynamodb";
import * as events from "@aws-sdk/client-eventbridge";
import * as lambda from "@aws-sdk/client-lambda";
import * as s3 from "@aws-sdk/client-s3";
import * as scheduler from "@aws-sdk/client-scheduler";
import * as states from "@aws-sdk/client-sfn";
import * as sns from "@aws-sdk/client-sns";
import * as sts from "@aws-sdk/client-sts";
import fc from "fast-check";
import type { OwnerKeys } from "../../../adapters/files/owner-keys";
import { valuesOf as drawn } from "./api-sources";
import { type Shape, valuesOf } from "./aws-shapes";
import { heavyBodies } from "./heavy";
import type { FuzzRequest } from "./request";
import type { RequestSource } from "./source";

/** The operations that the embedded cloud serves, by service. One in twenty requests uses another. */
const served: Readonly<Record<string, RegExp>> = {
  dynamodb:
    /^(?:(?:Put|Get|Update|Delete|BatchGet|BatchWrite)Item|TransactWriteItems|Query|Scan|CreateTable|ListTables|UpdateTimeToLive)$/,
  s3: /^(?:(?:Put|Get|Head|Delete|Copy)Objects?|ListObjectsV2|ListObjectVersions|.*Multipart.*|UploadPart.*|CreateBucket|ListBuckets)$/,
  states:
    /^(?:(?:Create|Update|Describe)StateMachine|ListStateMachines|ListExecutions|(?:Start|Stop|Describe)Execution|SendTask.*|GetExecutionHistory)$/,
  events: /^(?:PutEvents|PutRule|PutTargets|ListRules)$/,
  logs: /^(?:DescribeLogGroups|FilterLogEvents)$/,
  scheduler: /./,
  batch: /^(?:(?:Submit|Describe|List|Terminate)Jobs?|Describe.*|(?:Create|Update)JobQueue|RegisterJobDefinition)$/,
  lambda: /^Invoke$/,
  sns: /^(?:Publish|.*Topic.*|Subscribe|Unsubscribe|ListSubscriptions.*)$/,
  sts: /^(?:AssumeRole|GetCallerIdentity)$/,
};
const modules: Readonly<Record<string, object>> = {
  dynamodb,
  s3,
  states,
  events,
  logs,
  scheduler,
  batch,
  lambda,
  sns,
  sts,
};
/** Operations that would start processes. */
const skipped = /^(?:SubmitServiceJob)$/;
const heavyEvery = 60;

interface Captured {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers: Record<string, string>;
  body?: string | Uint8Array;
}

interface AnyClient {
  readonly middlewareStack: {
    add(
      middleware: (next: (args: { readonly request: Captured }) => unknown) => unknown,
      options: { readonly step: "build"; readonly priority: "low"; readonly name: string },
    ): void;
  };
  send(command: object): Promise<unknown>;
}

type CommandClass = new (input: object) => { readonly schema?: readonly unknown[] };

function bytesOf(body: unknown): Buffer | undefined {
  if (typeof body === "string") return Buffer.from(body);
  return types.isUint8Array(body) ? Buffer.from(body.buffer, body.byteOffset, body.byteLength) : undefined;
}

/** Makes requests of every service and operation of the AWS port with the SDK's own models, serializers and signer. */
export function awsSource(endpoint: string, keys: OwnerKeys, seed: number): RequestSource {
  const operations = Object.entries(modules).flatMap(([service, module]) => operationsOf(service, module));
  const often = operations.filter(({ name, service }) => served[service]!.test(name));
  const clients = new Map(
    Object.entries(modules).map(([service, module]) => [service, capturing(module, endpoint, keys)]),
  );
  const next = drawn(
    fc
      .oneof(
        { weight: 19, arbitrary: fc.constantFrom(...often) },
        { weight: 1, arbitrary: fc.constantFrom(...operations) },
      )
      .chain((operation) => fc.tuple(fc.constant(operation), valuesOf(operation.input, ""), fc.nat())),
    seed,
  );
  const names = ["Item", "Key", "TableName", "input", "definition", "Entries", "logEvents", "containerOverrides"];
  const heavy = drawn(heavyBodies(names), seed);

  async function requestOf(): Promise<FuzzRequest | undefined> {
    const [operation, input, chance] = next();
    const client = clients.get(operation.service)!;
    const captured = await client(operation.make(input as object), (request) => {
      const isJson = String(request.headers["content-type"] ?? "").includes("json");
      const bytes = bytesOf(request.body);
      if (!isJson || bytes === undefined) return;
      const text = bytes.toString();
      if (chance % heavyEvery === 0) request.body = heavy()();
      else if (chance % 13 === 0) request.body = text.slice(0, chance % (text.length + 1));
      else if (chance % 17 === 0) request.body = text.replace(/"[^"]*"(?=[,}\]])/, "[null]");
    });
    if (captured === undefined) return undefined;
    const { method, path, query = {}, headers, body } = captured;
    const search = Object.entries(query).flatMap(([name, values]) =>
      [values].flat().map((value) => `${encode(name)}=${encode(String(value))}`),
    );
    const url = `${endpoint}${path}${search.length > 0 ? `?${search.join("&")}` : ""}`;
    const sent = bytesOf(body);
    return {
      route: `aws ${operation.service} ${operation.name}`,
      method,
      url,
      headers: withoutLength(headers),
      ...(sent && { body: sent }),
    };
  }

  return {
    share: 0.25,
    async next() {
      for (;;) {
        const request = await requestOf();
        if (request) return request;
      }
    },
    learn: () => undefined,
  };
}

interface AwsOperation {
  readonly service: string;
  readonly name: string;
  readonly input: Shape;
  make(input: object): object;
}

function operationsOf(service: string, module: object): readonly AwsOperation[] {
  return Object.entries(module).flatMap(([exported, Command]) => {
    if (!exported.endsWith("Command") || exported === "$Command") return [];
    const name = exported.slice(0, -"Command".length);
    const { schema } = new (Command as CommandClass)({});
    if (schema === undefined || skipped.test(name)) return [];
    return [{ service, name, input: schema[4] as Shape, make: (input) => new (Command as CommandClass)(input) }];
  });
}

function capturing(module: object, endpoint: string, credentials: OwnerKeys) {
  const [, Client] = Object.entries(module).find(([name]) => /Client$/.test(name) && !name.startsWith("__"))!;
  let change: (request: Captured) => void = () => undefined;
  let captured: Captured | undefined;
  const client = new (Client as new (config: object) => AnyClient)({
    endpoint,
    region: "us-east-1",
    credentials,
    maxAttempts: 1,
    forcePathStyle: true,
    logger: { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet },
    requestHandler: {
      handle: async (request: Captured) => {
        captured = request;
        throw new Error("captured");
      },
    },
  });
  client.middlewareStack.add(
    (forward) => (args: { readonly request: Captured }) => {
      change(args.request);
      return forward(args);
    },
    { step: "build", priority: "low", name: "fuzz" },
  );
  return async (command: object, changed: (request: Captured) => void): Promise<Captured | undefined> => {
    change = changed;
    captured = undefined;
    await client.send(command).catch(() => undefined);
    return captured;
  };
}

function quiet(): void {}

function withoutLength(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !/^(?:content-length|transfer-encoding|host|expect)$/i.test(name))
      .map(([name, value]) => [name, String(value).replaceAll(/[^\t\x20-\x7e]/g, "?")]),
  );
}

function encode(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString()).replaceAll(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
