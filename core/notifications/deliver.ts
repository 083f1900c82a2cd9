import { eachLimited } from "../each-limited";
import { type Clock, isoTime, type ObjectStore } from "../ports";
import { signingKey } from "../signing-key";
import type { DueDeliveries, NotificationRepository, TeamTopic, Webhooks } from "./ports";
import {
  type AttemptResult,
  afterAttempt,
  attemptLeaseMs,
  type Channel,
  channelsOf,
  type Delivery,
  type Message,
  messageOf,
  type NotableEvent,
  type NotificationSettings,
} from "./shapes";

export interface NotifyDependencies {
  readonly notifications: NotificationRepository;
  readonly webhooks: Webhooks;
  readonly topic: TeamTopic;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
}

const tries = 3;

/**
 * Delivers an event through the channels in the team's settings. Idempotent: an event has one delivery for each
 * channel, which is stored before its first attempt. If the process dies, `sweepDeliveries` continues.
 * @returns the deliveries that this call attempted
 */
export async function deliverEvent(
  dependencies: NotifyDependencies,
  event: NotableEvent,
): Promise<readonly Delivery[]> {
  const { notifications, clock } = dependencies;
  const settings = await notifications.findSettings();
  const message = messageOf(event);
  const kept: Delivery[] = [];
  for (const channel of channelsOf(settings, event.type)) {
    const dueAt = new Date(clock.now() + attemptLeaseMs).toISOString();
    const { id, at } = event;
    const delivery: Delivery = { id, at, channel, message, status: "pending", attempts: 0, dueAt };
    if (await notifications.create(delivery)) kept.push(delivery);
  }
  return Promise.all(kept.map((delivery) => attempt(dependencies, delivery)));
}

/** Attempts a due delivery; returns `undefined` if another process does. */
export async function retryDelivery(
  dependencies: NotifyDependencies,
  delivery: Delivery,
): Promise<Delivery | undefined> {
  const dueAt = new Date(dependencies.clock.now() + attemptLeaseMs).toISOString();
  if (!(await dependencies.notifications.claim(delivery, dueAt))) return undefined;
  return attempt(dependencies, { ...delivery, dueAt });
}

async function attempt(dependencies: NotifyDependencies, delivery: Delivery): Promise<Delivery> {
  const { notifications, clock, random } = dependencies;
  // Uses the present settings, because a receiver may have moved.
  const settings = await notifications.findSettings();
  const result = await send(dependencies, settings, delivery.channel, delivery.message, tries);
  const { dueAt: _, ...ended } = delivery;
  const next: Delivery = result
    ? afterAttempt(delivery, result, clock.now(), random())
    : { ...ended, status: "dropped", answeredAt: isoTime(clock) };
  await notifications.record(next);
  return next;
}

/** Sends a message through a channel; returns `undefined` if the settings have no such channel. */
export async function send(
  { webhooks, topic, objects, randomBytes }: NotifyDependencies,
  settings: NotificationSettings | undefined,
  channel: Channel,
  message: Message,
  times: number,
): Promise<AttemptResult | undefined> {
  if (channel === "topic") return settings?.topic ? topic.publish(message) : undefined;
  if (settings?.url === undefined) return undefined;
  const { url, keyGeneration } = settings;
  return webhooks.post(url, await receiverKey({ objects, randomBytes }, url, keyGeneration), message, times);
}

/** Returns the key that signs messages to a receiver. Another origin or generation has another key. */
export function receiverKey(
  { objects, randomBytes }: Pick<NotifyDependencies, "objects" | "randomBytes">,
  url: string,
  generation: number,
): Promise<Uint8Array> {
  return signingKey(objects, randomBytes, ["ringmaster.notify", new URL(url).origin, generation]);
}

export interface SweepOptions {
  readonly forTeam: (team: string) => NotifyDependencies;
  readonly clock: Clock;
  /** Time after which no attempt is started; milliseconds since the epoch. */
  readonly until: number;
  readonly onDone: (team: string, delivery: Delivery) => void;
  readonly onError: (team: string, delivery: Delivery, error: unknown) => void;
}

/**
 * Attempts due deliveries of all teams, eight at a time, so that a receiver that does not respond delays few others.
 */
export async function sweepDeliveries(due: DueDeliveries, options: SweepOptions): Promise<void> {
  const { forTeam, clock, until, onDone, onError } = options;
  await eachLimited(await due.list(isoTime(clock)), 8, async ({ team, delivery }) => {
    if (clock.now() >= until) return;
    try {
      const done = await retryDelivery(forTeam(team), delivery);
      if (done) onDone(team, done);
    } catch (error) {
      onError(team, delivery, error);
    }
  });
}
