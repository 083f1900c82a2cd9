import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { account, region } from "../account";
import { systemClock } from "../clock";
import { type Delivery, DurableQueue, type Queued } from "../durable-queue";
import type { Caller } from "../iam/caller";
import { type Fields, serveQuery, type Xml } from "../query-protocol";
import { ServiceStore, type StoredService, type StoredServiceOptions } from "../service";
import { ServiceError } from "../wire";

interface Attribute {
  readonly Type: string;
  readonly Value: string;
}

interface Notification {
  readonly messageId: string;
  readonly topicArn: string;
  readonly subscriptionArn: string;
  readonly endpoint: string;
  readonly subject?: string;
  readonly message: string;
  readonly attributes: Readonly<Record<string, Attribute>>;
  readonly timestamp: string;
}

/** SNS's default for HTTP endpoints: 50 retries, at most 20 s apart. */
const maxRetries = 50;
const maxDelayMs = 20_000;
const timeoutMs = 15_000;

/**
 * Posts a message once, as SNS does to an HTTP endpoint ("HTTP/HTTPS notification JSON format", Amazon SNS developer
 * guide).
 */
async function deliver({ item, attempts }: Queued<Notification>): Promise<Delivery> {
  const { messageId, topicArn, subscriptionArn, endpoint, subject, message, attributes, timestamp } = item;
  let error: string;
  try {
    const response = await fetch(endpoint, {
      method: "POST",
      redirect: "manual",
      headers: {
        "content-type": "text/plain; charset=UTF-8",
        "x-amz-sns-message-type": "Notification",
        "x-amz-sns-message-id": messageId,
        "x-amz-sns-topic-arn": topicArn,
        "x-amz-sns-subscription-arn": subscriptionArn,
      },
      body: JSON.stringify({
        ...{ Type: "Notification", MessageId: messageId, TopicArn: topicArn, Subject: subject, Message: message },
        ...{ Timestamp: timestamp, MessageAttributes: attributes },
      }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    if (response.ok) return { outcome: "done" };
    error = `status ${response.status}`;
    if (response.status < 500 && response.status !== 429) return { outcome: "dead", error };
  } catch (cause) {
    error = String(cause);
  }
  if (attempts >= maxRetries) return { outcome: "dead", error };
  return { outcome: "retry", delayMs: Math.min(maxDelayMs, 1_000 * 2 ** attempts), error };
}

const arnPrefix = `arn:aws:sns:${region}:${account}:`;

function invalid(reason: string): ServiceError {
  return new ServiceError("InvalidParameter", 400, `Invalid parameter: ${reason}`);
}

function topicArn(name: string): string {
  return arnPrefix + name;
}

function topicNameOf(arn: string | null): string | undefined {
  return arn?.startsWith(arnPrefix) ? arn.slice(arnPrefix.length) : undefined;
}

/** Reads the name of a standard topic. Names with a dot are refused, which includes FIFO topics (`.fifo`). */
function readTopicName(fields: Fields): string {
  const name = fields.get("Name") ?? "";
  if (/^[\w-]{1,256}$/.test(name)) return name;
  throw invalid("Topic Name must be 1–256 letters, digits, hyphens and underscores; FIFO topics are not implemented");
}

function readEndpoint(fields: Fields, ownPorts: readonly number[]): string {
  if (fields.get("Protocol") !== "http")
    throw invalid(`Protocol is ${fields.get("Protocol")}: the embedded SNS delivers to http endpoints only`);
  if (fields.has("Attributes.entry.1.key"))
    throw invalid("Attributes: the embedded SNS implements no subscription attributes");
  const endpoint = fields.get("Endpoint") ?? "";
  const { protocol, hostname, port: number } = URL.canParse(endpoint) ? new URL(endpoint) : new URL("none:");
  if (protocol === "http:" && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)) {
    const port = Number(number) || 80;
    if (ownPorts.includes(port)) throw invalid(`Endpoint must not be port ${port}, which is the stack's own`);
    return endpoint;
  }
  throw invalid("Endpoint must be an http URL on this machine, such as http://127.0.0.1:8080/");
}

function readAttributes(fields: Fields): Readonly<Record<string, Attribute>> {
  const attributes: Record<string, Attribute> = {};
  for (let n = 1; fields.has(`MessageAttributes.entry.${n}.Name`); n += 1) {
    const of = `MessageAttributes.entry.${n}`;
    const Type = fields.get(`${of}.Value.DataType`) ?? "";
    const Value = fields.get(`${of}.Value.StringValue`);
    if (!/^(String|Number)/.test(Type) || Value === null)
      throw invalid(`MessageAttributes: ${Type} is not implemented; use String or Number`);
    attributes[fields.get(`${of}.Name`) ?? ""] = { Type, Value };
  }
  return attributes;
}

export interface SnsOptions extends StoredServiceOptions {
  /** Returns whether a topic exists without a CreateTopic, like the topics of a deployment. */
  readonly provided?: (name: string) => boolean;
  /** The ports of the stack itself, which subscriptions may not use. */
  readonly ownPorts?: readonly number[];
}

interface Subscription {
  readonly arn: string;
  readonly topic: string;
  readonly endpoint: string;
}

const namespace = "http://sns.amazonaws.com/doc/2010-03-31/";
/** The maximum size of a message with its form encoding. SNS accepts 256 KiB of text. */
const maxBytes = 1024 * 1024;
const maxMessageBytes = 256 * 1024;

/**
 * Creates Simple Notification Service for one machine: topics, and subscriptions of HTTP endpoints on this machine,
 * delivered at least once. A subscription is confirmed at once, and deliveries have no signature, because both need
 * AWS's own certificates.
 *
 * @example const sns = createSns({ dataDirectory, provided: (name) => name.startsWith("ringmaster-team-") });
 */
export function createSns(options: SnsOptions): StoredService {
  const { clock = systemClock, provided = () => false, ownPorts = [] } = options;
  const store = new ServiceStore("sns", options);
  const { db } = store;
  const topics = new Set<string>();
  const subscriptions = new Map<string, Subscription>();
  const queue = new DurableQueue<Notification>({
    ...{ db, clock, deliver, prefix: "message!" },
    deadLetters: join(options.dataDirectory, "sns-dead-letters.ndjson"),
  });
  const ready = store.open(async () => {
    for (const key of await db.keys({ gt: "topic!", lt: "topic!\uffff" })) topics.add(key.slice("topic!".length));
    for await (const [, value] of db.iterator({ gt: "subscription!", lt: "subscription!\uffff" })) {
      subscriptions.set((value as Subscription).arn, value as Subscription);
    }
    await queue.open();
  });

  const find = (fields: Fields): string => {
    const name = topicNameOf(fields.get("TopicArn"));
    if (name !== undefined && (topics.has(name) || provided(name))) return name;
    throw new ServiceError("NotFound", 404, "Topic does not exist");
  };
  const describe = ({ arn, topic, endpoint }: Subscription): Xml => ({
    ...{ SubscriptionArn: arn, TopicArn: topicArn(topic), Protocol: "http", Endpoint: endpoint, Owner: "000000000000" },
  });

  const operations: Readonly<Record<string, (fields: Fields) => Xml | Promise<Xml>>> = {
    async CreateTopic(fields) {
      const name = readTopicName(fields);
      await db.put(`topic!${name}`, {});
      topics.add(name);
      return { TopicArn: topicArn(name) };
    },
    ListTopics: () => ({ Topics: [...topics].sort().map((name) => ({ TopicArn: topicArn(name) })) }),
    async Subscribe(fields) {
      const topic = find(fields);
      const endpoint = readEndpoint(fields, ownPorts);
      const subscribed = [...subscriptions.values()].find((one) => one.topic === topic && one.endpoint === endpoint);
      const subscription = subscribed ?? { arn: `${topicArn(topic)}:${randomUUID()}`, topic, endpoint };
      await db.put(`subscription!${subscription.arn}`, subscription);
      subscriptions.set(subscription.arn, subscription);
      return { SubscriptionArn: subscription.arn };
    },
    async Unsubscribe(fields) {
      const arn = fields.get("SubscriptionArn") ?? "";
      await db.del(`subscription!${arn}`);
      subscriptions.delete(arn);
      return {};
    },
    ListSubscriptionsByTopic(fields) {
      const topic = find(fields);
      return { Subscriptions: [...subscriptions.values()].filter((one) => one.topic === topic).map(describe) };
    },
    async Publish(fields) {
      const topic = find(fields);
      const message = fields.get("Message") ?? "";
      if (message === "") throw invalid("Empty message");
      if (Buffer.byteLength(message) > maxMessageBytes) throw invalid("Message too long");
      const messageId = randomUUID();
      const receivers = [...subscriptions.values()].filter((one) => one.topic === topic);
      await queue.addAll(
        receivers.map(({ arn, endpoint }) => ({
          id: `${messageId}!${arn}`,
          item: {
            ...{ messageId, message, endpoint, topicArn: topicArn(topic), subscriptionArn: arn },
            subject: fields.get("Subject") ?? undefined,
            attributes: readAttributes(fields),
            timestamp: new Date(clock.now()).toISOString(),
          },
        })),
      );
      return { MessageId: messageId };
    },
  };

  async function perform(action: string, fields: Fields, caller: Caller | undefined): Promise<Xml> {
    await ready;
    const operation = Object.hasOwn(operations, action) ? operations[action] : undefined;
    if (!operation) {
      const names = Object.keys(operations).join(", ");
      throw new ServiceError("InvalidAction", 400, `The embedded SNS does not implement ${action}; it has ${names}.`);
    }
    caller?.authorize({ action: `sns:${action}`, resource: fields.get("TopicArn") ?? "*" });
    return operation(fields);
  }

  return {
    signingName: "sns",
    ready,
    handle: (request, response, caller) =>
      serveQuery(request, response, { namespace, maxBytes }, (action, fields) => perform(action, fields, caller)),
    close: () => store.close(() => queue.close()),
  };
}
