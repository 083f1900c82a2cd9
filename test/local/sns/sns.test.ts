import type { IncomingHttpHeaders } from "node:http";
import { json } from "node:stream/consumers";
import { PublishCommand, SNS, SubscribeCommand } from "@aws-sdk/client-sns";
import { createSns } from "../../../local/sns";
import { ManualClock } from "../../support/manual-clock";
import { temporaryFolder } from "../../support/temporary-folder";
import { startServer, type WebServer } from "../../support/web-server";
import { serve } from "../support/served";

const provided = "arn:aws:sns:us-east-1:000000000000:ringmaster-team-vision";

describe("the embedded SNS", () => {
  const directory = temporaryFolder("sns");
  const clock = new ManualClock(Date.parse("2026-01-01T00:00:00Z"));
  const received: { readonly headers: IncomingHttpHeaders; readonly body: Record<string, unknown> }[] = [];
  let status = 200;
  let heard: () => void = () => undefined;
  let subscriber: WebServer;
  let endpoint: string;
  let served: Awaited<ReturnType<typeof serve>>;
  let client: SNS;

  const start = async () => {
    const sns = createSns({ dataDirectory: directory, clock, provided: (name) => name.startsWith("ringmaster-team-") });
    await sns.ready;
    served = await serve(sns);
    client = new SNS(served.connection);
  };
  const stop = async () => {
    client.destroy();
    await served.close();
  };
  const delivery = () => new Promise<void>((done) => (heard = done));

  beforeAll(async () => {
    subscriber = await startServer(async (request, response) => {
      received.push({ headers: request.headers, body: (await json(request)) as Record<string, unknown> });
      response.writeHead(status).end();
      heard();
    });
    endpoint = `${subscriber.endpoint}/in`;
    await start();
  });
  beforeEach(() => {
    received.length = 0;
    status = 200;
  });
  afterAll(async () => {
    await stop();
    await subscriber.close();
  });

  it("delivers to a topic's subscribers, with attributes, until they unsubscribe", async () => {
    const { TopicArn } = await client.createTopic({ Name: "news" });
    expect((await client.listTopics({})).Topics).toEqual([{ TopicArn }]);
    const subscribe = new SubscribeCommand({ TopicArn, Protocol: "http", Endpoint: endpoint });
    const { SubscriptionArn } = await client.send(subscribe);
    expect((await client.send(subscribe)).SubscriptionArn).toBe(SubscriptionArn);
    expect((await client.listSubscriptionsByTopic({ TopicArn })).Subscriptions).toEqual([
      expect.objectContaining({ SubscriptionArn, TopicArn, Endpoint: endpoint }),
    ]);
    const publish = new PublishCommand({
      ...{ TopicArn, Subject: "a < b & c", Message: '{"é": "<&>"}' },
      MessageAttributes: { type: { DataType: "String", StringValue: "run.failed" } },
    });
    const delivered = delivery();
    const { MessageId } = await client.send(publish);
    await delivered;
    expect(received).toEqual([
      {
        headers: expect.objectContaining({
          "x-amz-sns-message-type": "Notification",
          "x-amz-sns-message-id": MessageId,
          "x-amz-sns-topic-arn": TopicArn,
        }),
        body: {
          ...{ Type: "Notification", MessageId, TopicArn, Subject: "a < b & c", Message: '{"é": "<&>"}' },
          Timestamp: "2026-01-01T00:00:00.000Z",
          MessageAttributes: { type: { Type: "String", Value: "run.failed" } },
        },
      },
    ]);
    await client.unsubscribe({ SubscriptionArn });
    await client.send(publish);
    expect((await client.listSubscriptionsByTopic({ TopicArn })).Subscriptions).toEqual([]);
    expect(received).toHaveLength(1);
  });

  it("keeps subscriptions and undelivered messages over a restart", async () => {
    await client.subscribe({ TopicArn: provided, Protocol: "http", Endpoint: endpoint });
    status = 500;
    const refused = delivery();
    await client.publish({ TopicArn: provided, Message: "again" });
    await refused;
    await stop();
    status = 200;
    clock.advance(60_000);
    const delivered = delivery();
    await start();
    await delivered;
    expect(received.map(({ body }) => body["Message"])).toEqual(["again", "again"]);
    expect(received[1]!.body["MessageId"]).toBe(received[0]!.body["MessageId"]);
  });

  const publishTo = (TopicArn: string, Message: string) => client.publish({ TopicArn, Message });
  const subscribe = (Protocol: string, Endpoint: string) =>
    client.subscribe({ TopicArn: provided, Protocol, Endpoint });
  const missing = provided.replace("ringmaster-team", "none");
  const invalid = "InvalidParameterException";
  it.each<[string, () => Promise<unknown>, string, RegExp]>([
    ["a missing topic", () => publishTo(missing, "m"), "NotFoundException", /Topic does not exist/],
    ["an empty message", () => publishTo(provided, ""), invalid, /Empty message/],
    ["an endpoint elsewhere", () => subscribe("http", "http://example.com"), invalid, /on this machine/],
    ["no HTTP server", () => subscribe("email", "a@example.com"), invalid, /http endpoints only/],
    ["a FIFO topic", () => client.createTopic({ Name: "a.fifo" }), invalid, /FIFO topics are not implemented/],
    [
      "an operation that it does not have",
      () => client.deleteTopic({ TopicArn: provided }),
      "InvalidAction",
      /does not implement DeleteTopic; it has CreateTopic/,
    ],
  ])("refuses %s as the service does", async (_, call, name, message) => {
    await expect(call()).rejects.toMatchObject({ name, message: expect.stringMatching(message) });
  });
});
