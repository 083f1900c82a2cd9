import { randomUUID } from "node:crypto";
import { systemClock } from "../clock";
import { DurableQueue } from "../durable-queue";
import type { Caller } from "../iam/caller";
import { type Fields, serveQuery, type Xml } from "../query-protocol";
import { ServiceStore, type StoredService, type StoredServiceOptions } from "../service";
import { ServiceError } from "../wire";
import { deliver, type Notification } from "./deliver";
import { invalid, readAttributes, readEndpoint, readTopicName, topicArn, topicNameOf } from "./fields";

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
    giveUp: ({ item }, error) => process.stderr.write(`sns: gave up ${item.messageId} to ${item.endpoint}: ${error}\n`),
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
      const known = [...subscriptions.values()].find((one) => one.topic === topic && one.endpoint === endpoint);
      const subscription = known ?? { arn: `${topicArn(topic)}:${randomUUID()}`, topic, endpoint };
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
      const known = Object.keys(operations).join(", ");
      throw new ServiceError("InvalidAction", 400, `The embedded SNS does not implement ${action}; it has ${known}.`);
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
