import type { EventBridgeEvent } from "aws-lambda";
import { dueDeliveries, notifications } from "../../adapters/dynamodb/notification-repository";
import { webhooks } from "../../adapters/http/webhooks";
import { teamObjects } from "../../adapters/s3/object-store";
import { teamTopic } from "../../adapters/sns/team-topic";
import { teamNamePattern } from "../../core/access/principals";
import type { Logger } from "../../core/logging";
import { deliverEvent, type NotifyDependencies, sweepDeliveries } from "../../core/notifications/deliver";
import type { DueDeliveries } from "../../core/notifications/ports";
import { type Delivery, notableEventSchema } from "../../core/notifications/shapes";
import type { Clock } from "../../core/ports";
import { functionHandler } from "../function-handler";

type NotifyEvent =
  | EventBridgeEvent<"Training Run Ended" | "Approval Needed" | "Data Contract Blocked", unknown>
  | EventBridgeEvent<"Scheduled Event", unknown>;

interface NotifyPorts {
  readonly clock: Clock;
  readonly dueDeliveries: DueDeliveries;
  forTeam(team: string): NotifyDependencies;
}

/** Delivers an event, or attempts due deliveries. @param until when a sweep stops; milliseconds since the epoch */
async function notify(
  { clock, dueDeliveries, forTeam }: NotifyPorts,
  logger: Logger,
  event: NotifyEvent,
  until: number,
): Promise<void> {
  const log = (team: string, { id, channel, status, attempts, answer }: Delivery): void =>
    logger.log(status === "failed" ? "warn" : "info", "notification", { team, id, channel, status, attempts, answer });
  if (event["detail-type"] === "Scheduled Event") {
    return sweepDeliveries(dueDeliveries, {
      forTeam,
      clock,
      until,
      onDone: log,
      onError: (team, { id, channel }, error) =>
        logger.log("error", "cannot attempt a notification", { team, id, channel, error }),
    });
  }
  const parsed = notableEventSchema.safeParse(event.detail);
  if (!parsed.success || !teamNamePattern.test(parsed.data.team)) {
    // A retry would not change it.
    logger.log("warn", "ignored an event that is not as the platform publishes it", { eventId: event.id });
    return;
  }
  const { data } = parsed;
  for (const delivery of await deliverEvent(forTeam(data.team), data)) log(data.team, delivery);
}

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
