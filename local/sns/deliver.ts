import type { Delivery, Queued } from "../durable-queue";

export interface Attribute {
  readonly Type: string;
  readonly Value: string;
}

/** A message on its way to one subscriber. */
export interface Notification {
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
export async function deliver({ item, attempts }: Queued<Notification>): Promise<Delivery> {
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
