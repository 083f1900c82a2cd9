import { conflict, InvalidInputError } from "../../core/errors";
import { type NotifyDependencies, receiverKey, send } from "../../core/notifications/deliver";
import {
  type AttemptResult,
  type Channel,
  type NotificationSettings,
  testMessage,
} from "../../core/notifications/shapes";
import { isoTime } from "../../core/ports";
import { keyText } from "../../core/signing-key";
import { defineRoute, type Route } from "../http/route";
import * as operations from "../operations/notifications";

const notificationsNotSet = (what: string) => conflict("NOTIFICATIONS_NOT_SET", what);

/** Idempotent, except for the recorded author and time. @throws InvalidInputError for a URL that cannot be used */
export async function setNotifications(
  { notifications, webhooks, clock }: NotifyDependencies,
  wanted: Omit<NotificationSettings, "updatedBy" | "updatedAt">,
  actor: string,
): Promise<NotificationSettings> {
  const { url } = wanted;
  const rule = url === undefined ? undefined : await webhooks.problemOf(url);
  if (rule !== undefined)
    throw new InvalidInputError("the notifications cannot be set", [{ path: "url", value: url, rule }]);
  const settings = { ...wanted, updatedBy: actor, updatedAt: isoTime(clock) };
  await notifications.putSettings(settings);
  return settings;
}

/** @throws NOTIFICATIONS_NOT_SET if there is no channel */
export async function testNotifications(
  dependencies: NotifyDependencies,
  team: string,
  id: string,
): Promise<readonly ({ readonly channel: Channel } & AttemptResult)[]> {
  const settings = await dependencies.notifications.findSettings();
  const message = testMessage(id, team, isoTime(dependencies.clock));
  const results = await Promise.all(
    (["webhook", "topic"] as const).map(async (channel) => {
      const result = await send(dependencies, settings, channel, message, 1);
      return result ? [{ channel, ...result }] : [];
    }),
  );
  if (results.flat().length === 0) throw notificationsNotSet("the team has neither a webhook nor its topic set");
  return results.flat();
}

/** @throws NOTIFICATIONS_NOT_SET if there is no webhook */
async function findReceiverKey(
  dependencies: NotifyDependencies,
): Promise<{ readonly origin: string; readonly generation: number; readonly key: string }> {
  const settings = await dependencies.notifications.findSettings();
  if (settings?.url === undefined) throw notificationsNotSet("the team has no webhook");
  const { url, keyGeneration: generation } = settings;
  return { origin: new URL(url).origin, generation, key: keyText(await receiverKey(dependencies, url, generation)) };
}

export const notificationRoutes: readonly Route[] = [
  defineRoute(operations.getNotifications, async ({ platform: { notifications, topic } }) => ({
    settings: await notifications.findSettings(),
    topicArn: topic.arn,
  })),

  defineRoute(operations.setNotifications, async ({ platform, body, actor }) => ({
    settings: await setNotifications(platform, body, actor),
    topicArn: platform.topic.arn,
  })),

  defineRoute(operations.removeNotifications, async ({ platform, actor }) => {
    const { events = [], keyGeneration = 1 } = (await platform.notifications.findSettings()) ?? {};
    const settings = await setNotifications(platform, { topic: false, events, keyGeneration }, actor);
    return { settings, topicArn: platform.topic.arn };
  }),

  defineRoute(operations.testNotifications, async ({ platform, requestId }) => ({
    results: await testNotifications(platform, platform.team, `test-${requestId}`),
  })),

  defineRoute(operations.getNotificationKey, ({ platform }) => findReceiverKey(platform)),

  defineRoute(operations.listNotificationDeliveries, ({ platform: { notifications }, query }) =>
    notifications.list(query),
  ),
];
