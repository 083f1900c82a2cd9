import { dueDeliveries, notifications } from "../../adapters/dynamodb/notification-repository";
import { webhooks } from "../../adapters/http/webhooks";
import { teamObjects } from "../../adapters/s3/object-store";
import { teamTopic } from "../../adapters/sns/team-topic";
import { functionHandler } from "../function-handler";
import { type NotifyEvent, notify } from "./notify";

/** Time that is kept for the attempts that are under way. */
const reserveMs = 45_000;

/** Receives the ends of runs, requests for approval and blocked data from EventBridge, and delivers them as each team has set. */
export const handler = functionHandler(
  {
    shared: { dueDeliveries: dueDeliveries("list"), webhooks: webhooks() },
    team: {
      notifications: notifications("read", "deliver"),
      topic: teamTopic("publish"),
      objects: teamObjects("read", "write"),
    },
  },
  async (ports, event: NotifyEvent, context) => {
    await notify(ports, ports.logger, event, ports.clock.now() + context.getRemainingTimeInMillis() - reserveMs);
  },
);
