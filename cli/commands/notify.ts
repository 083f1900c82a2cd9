import type { Answer } from "../../client/operations";
import { InvalidInputError } from "../../core/errors";
import { type EventType, eventTypes } from "../../core/notifications/shapes";
import { timeText } from "../../core/quantities";
import { type Command, wholeNumber } from "../command";
import { contextOf } from "../context";
import { exitCodes, printJson, printTable } from "../output";

type NotificationAnswer = Answer<"getNotifications">;

interface SetOptions {
  readonly url?: string;
  readonly topic?: boolean;
  readonly events?: readonly string[];
  readonly keyGeneration?: number;
}

export function addNotifyCommands(program: Command): void {
  const notify = program
    .command("notify")
    .description("notify your team of runs that end and versions that need an approval, by webhook or SNS");

  notify
    .command("set")
    .description("set the webhook, the topic and the events; omitted settings stay unchanged")
    .option("--url <url>", "receives a signed POST for each event; https")
    .option("--topic", "publish on the team's SNS topic")
    .option("--no-topic", "do not publish on the team's SNS topic")
    .repeatable("--events <types>", `comma-separated, of: ${eventTypes.join(", ")} (default: all)`, { commas: true })
    .option("--key-generation <number>", "another number gives another signing key", wholeNumber("--key-generation"))
    .action(async (options: SetOptions, command: Command) => {
      if (Object.keys(options).length === 0) {
        const rule = "at least one must be given";
        throw new InvalidInputError("there is nothing to set", [{ path: "--url, --topic, --events", rule }]);
      }
      const { client, json } = contextOf(command);
      const { settings } = await client.call("getNotifications", {});
      const { url, topic, keyGeneration } = { ...settings, ...options };
      const events = options.events ? eventsOf(options.events) : settings?.events;
      const answer = await client.call("setNotifications", { body: { url, topic, events, keyGeneration } });
      if (json) printJson(answer);
      else show(answer);
    });

  notify
    .command("show")
    .description("show the channels and events of your team's notifications")
    .handle(async ({ client, json }) => {
      const answer = await client.call("getNotifications", {});
      if (json) printJson(answer);
      else show(answer);
    });

  notify
    .command("remove")
    .description("remove the webhook and stop publishing on the topic")
    .handle(async ({ client, print }) => {
      const answer = await client.call("removeNotifications", {});
      print(answer, "your team is no longer notified");
    });

  notify
    .command("test")
    .description("send a test message through each channel")
    .handle(async ({ client, json }) => {
      const answer = await client.call("testNotifications", {});
      if (answer.results.some(({ accepted }) => !accepted)) process.exitCode = exitCodes.failed;
      if (json) return printJson(answer);
      for (const { channel, accepted, answer: text } of answer.results)
        process.stdout.write(`${accepted ? "✔" : "✘"} ${channel}: ${text}\n`);
    });

  notify
    .command("key")
    .description("the key by which your receiver verifies signatures (whsec_…, of Standard Webhooks)")
    .handle(async ({ client, print }) => {
      const answer = await client.call("getNotificationKey", {});
      print(answer, answer.key);
    });

  notify
    .command("deliveries")
    .description("list the deliveries of the last 30 days, newest event first")
    .option("--limit <number>", "maximum number (default: 50)", wholeNumber("--limit"))
    .handle(async ({ client, json }, { limit }: { limit?: number }) => {
      const { items } = await client.call("listNotificationDeliveries", { query: { limit } });
      if (json) return printJson({ items });
      printTable(
        ["EVENT", "ABOUT", "TIME (UTC)", "CHANNEL", "STATUS", "ATTEMPTS", "ANSWER"],
        items.map(({ message, at, channel, status, attempts, answer, dueAt }) => [
          message.type,
          subjectOf(message.body),
          timeText(at),
          channel,
          status === "pending" && dueAt !== undefined ? `pending, next at ${timeText(dueAt)}` : status,
          attempts,
          answer ?? "",
        ]),
      );
    });
}

function subjectOf(body: string): string {
  const { type, data } = JSON.parse(body) as {
    type: EventType;
    data: { model: string; version: number; runId: string; dataset: string };
  };
  if (type === "data-contract.blocked") return data.dataset;
  return type === "approval.needed" ? `${data.model} ${data.version}` : data.runId;
}

function eventsOf(events: readonly string[]): readonly EventType[] {
  const unknown = events.find((event) => !eventTypes.some((type) => type === event));
  if (unknown === undefined) return events as readonly EventType[];
  throw new InvalidInputError("the notifications cannot be set", [
    { path: "--events", value: unknown, rule: `must be of ${eventTypes.join(", ")}` },
  ]);
}

function show({ settings, topicArn }: NotificationAnswer): void {
  const lines = [
    ["webhook", settings?.url ?? "none"],
    ["topic", settings?.topic ? topicArn : `off (${topicArn})`],
    ["events", settings?.events.join(", ") || "none"],
    ...(settings?.url === undefined ? [] : [["key", `generation ${settings.keyGeneration}; ringmaster notify key`]]),
    ...(settings ? [["set", `by ${settings.updatedBy}, ${timeText(settings.updatedAt)}`]] : []),
  ];
  for (const [name = "", value] of lines) process.stdout.write(`${name.padEnd(8)}  ${value}\n`);
}
