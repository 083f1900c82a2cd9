import { PublishCommand, SNSClient } from "@aws-sdk/client-sns";
import type { TeamTopic } from "../../core/notifications/ports";
import { worldOf } from "../../platform/config";
import { teamTopicName } from "../../platform/event-names";
import type { World } from "../../platform/permissions";
import { publishToTopics } from "../../platform/permissions/grants";
import { sharedPort, teamPort } from "../port";

/** Publishes to the SNS topic of one team. Subscribers filter by the attributes `type` and `id`, or by the body. */
export function createTeamTopic(client: SNSClient, world: World, team: string): TeamTopic {
  const { partition, region, account, prefix } = world;
  const arn = `arn:${partition}:sns:${region}:${account}:${teamTopicName(prefix, team)}`;
  return {
    arn,
    async publish({ id, type, body }) {
      const text = (StringValue: string) => ({ DataType: "String", StringValue });
      try {
        const { MessageId } = await client.send(
          new PublishCommand({
            TopicArn: arn,
            Subject: `ringmaster: ${type}`,
            Message: body,
            MessageAttributes: { id: text(id), type: text(type) },
          }),
        );
        return { accepted: true, answer: `message ${MessageId}` };
      } catch (error) {
        const { name, message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
        const status = $metadata?.httpStatusCode;
        const retryable = status === undefined || status === 429 || status >= 500 || name.startsWith("Throttl");
        return { accepted: false, answer: `${name}: ${message}`, retryable };
      }
    },
  };
}

const snsClient = sharedPort({ make: () => new SNSClient({}) });

export const teamTopic = teamPort({
  uses: { sns: snsClient() },
  grants: { publish: [publishToTopics] },
  make: ({ sns }, { config, team }) => createTeamTopic(sns, worldOf(config), team),
});
