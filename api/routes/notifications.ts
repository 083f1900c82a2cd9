import * as contracts from "../contracts/notifications";
import { defineRoute, type Route } from "../http/route";
import { findReceiverKey, setNotifications, testNotifications } from "../services/notifications";

export const notificationRoutes: readonly Route[] = [
  defineRoute(contracts.getNotifications, async ({ platform: { notifications, topic } }) => ({
    settings: await notifications.findSettings(),
    topicArn: topic.arn,
  })),

  defineRoute(contracts.setNotifications, async ({ platform, body, actor }) => ({
    settings: await setNotifications(platform, body, actor),
    topicArn: platform.topic.arn,
  })),

  defineRoute(contracts.removeNotifications, async ({ platform, actor }) => {
    const { events = [], keyGeneration = 1 } = (await platform.notifications.findSettings()) ?? {};
    const settings = await setNotifications(platform, { topic: false, events, keyGeneration }, actor);
    return { settings, topicArn: platform.topic.arn };
  }),

  defineRoute(contracts.testNotifications, async ({ platform, requestId }) => ({
    results: await testNotifications(platform, platform.team, `test-${requestId}`),
  })),

  defineRoute(contracts.getNotificationKey, ({ platform }) => findReceiverKey(platform)),

  defineRoute(contracts.listNotificationDeliveries, ({ platform: { notifications }, query }) =>
    notifications.list(query),
  ),
];
