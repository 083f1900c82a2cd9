import * as contracts from "../contracts/notifications";
import { defineRoute, type Route } from "../http/route";
import { findReceiverKey, setNotifications, testNotifications } from "../services/notifications";

export const notificationRoutes: readonly Route[] = [
  defineRoute(contracts.getNotifications, async ({ platform: { notifications, topic } }) => ({
    status: 200,
    body: { settings: await notifications.findSettings(), topicArn: topic.arn },
  })),

  defineRoute(contracts.setNotifications, async ({ platform, body, actor }) => ({
    status: 200,
    body: { settings: await setNotifications(platform, body, actor), topicArn: platform.topic.arn },
  })),

  defineRoute(contracts.removeNotifications, async ({ platform, actor }) => {
    const { events = [], keyGeneration = 1 } = (await platform.notifications.findSettings()) ?? {};
    const settings = await setNotifications(platform, { topic: false, events, keyGeneration }, actor);
    return { status: 200, body: { settings, topicArn: platform.topic.arn } };
  }),

  defineRoute(contracts.testNotifications, async ({ platform, requestId }) => ({
    status: 200,
    body: { results: await testNotifications(platform, platform.team, `test-${requestId}`) },
  })),

  defineRoute(contracts.getNotificationKey, async ({ platform }) => ({
    status: 200,
    body: await findReceiverKey(platform),
  })),

  defineRoute(contracts.listNotificationDeliveries, async ({ platform: { notifications }, query }) => ({
    status: 200,
    body: await notifications.list(query),
  })),
];
