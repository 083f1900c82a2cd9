import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { holds } from "../../adapters/dynamodb/client";
import { inlineMembers, Rosters } from "./dynamodb-roster";
import type { GangHead, MemberRecord } from "./model";
import type { GangStore, RegistrationKey } from "./store";

const partition = (gangId: string): string => `GANG#${gangId}`;
const headKey = "HEAD";
const memberKey = (memberId: string): string => `MEMBER#${memberId}`;

const daySeconds = 86_400;
/** Longer than any generation: a head that expired under a running gang would restart the numbers of generations. */
const headDays = 365;

/**
 * Stores gangs in the table `Gangs`, one partition per gang. One strongly consistent Query reads it whole; another read
 * returns only head and own item. W training members make W / 2 renewals a second and no other writes. A re-formation
 * adds three per member. docs/gang.md has the sums.
 */
export function createGangStore(client: DynamoDBDocumentClient, table: string): GangStore {
  const keyOf = (gangId: string, sk: string) => ({ pk: partition(gangId), sk });

  async function update(
    gangId: string,
    { memberId, incarnation, registration }: RegistrationKey,
    change: string,
    condition: string,
    values: Record<string, unknown>,
  ): Promise<boolean> {
    return holds(
      client.send(
        new UpdateCommand({
          TableName: table,
          Key: keyOf(gangId, memberKey(memberId)),
          UpdateExpression: change,
          ConditionExpression: `incarnation = :incarnation AND registration = :registration${condition}`,
          ExpressionAttributeValues: { ":incarnation": incarnation, ":registration": registration, ...values },
        }),
      ),
    );
  }

  const rosters = new Rosters(client, table);

  async function headOf(gangId: string, { pk, sk, expiresAt, ...item }: Record<string, unknown>): Promise<GangHead> {
    const head = item as unknown as GangHead;
    return head.members ? head : { ...head, members: await rosters.read(gangId, head.token) };
  }

  return {
    async read(gangId) {
      let head: GangHead | undefined;
      const members: MemberRecord[] = [];
      let ExclusiveStartKey: Record<string, unknown> | undefined;
      do {
        const page = await client.send(
          new QueryCommand({
            TableName: table,
            ConsistentRead: true,
            KeyConditionExpression: "pk = :pk",
            ExpressionAttributeValues: { ":pk": partition(gangId) },
            ExclusiveStartKey,
          }),
        );
        for (const item of page.Items ?? []) {
          if (item["sk"] === headKey) head = await headOf(gangId, item);
          else members.push(memberOf(item));
        }
        ExclusiveStartKey = page.LastEvaluatedKey;
      } while (ExclusiveStartKey);
      return { head, members };
    },

    async readHead(gangId, memberId) {
      const Keys = [keyOf(gangId, headKey), keyOf(gangId, memberKey(memberId))];
      const get = new BatchGetCommand({ RequestItems: { [table]: { Keys, ConsistentRead: true } } });
      const { Responses, UnprocessedKeys } = await client.send(get);
      if (Object.keys(UnprocessedKeys ?? {}).length > 0) throw new Error(`the gang's partition is busy: ${gangId}`);
      const items = Responses?.[table] ?? [];
      const head = items.find(({ sk }) => sk === headKey);
      return {
        head: head && (await headOf(gangId, head)),
        members: items.filter(({ sk }) => sk !== headKey).map(memberOf),
      };
    },

    register(gangId, member) {
      const { memberId, incarnation, registeredAt } = member;
      return holds(
        client.send(
          new PutCommand({
            TableName: table,
            Item: { ...keyOf(gangId, memberKey(memberId)), ...member, expiresAt: dayAfter(member.leaseExpiresAt) },
            ConditionExpression: "attribute_not_exists(pk) OR incarnation = :incarnation OR registeredAt <= :at",
            ExpressionAttributeValues: { ":incarnation": incarnation, ":at": registeredAt },
          }),
        ),
      );
    },

    renew(gangId, key, leaseExpiresAt) {
      return update(gangId, key, "SET leaseExpiresAt = :lease, expiresAt = :expiry", "", {
        ":lease": leaseExpiresAt,
        ":expiry": dayAfter(leaseExpiresAt),
      });
    },

    reportLost(gangId, key) {
      return update(gangId, key, "SET accused = :true", " AND accused = :false", { ":true": true, ":false": false });
    },

    async seal(gangId, head) {
      const first = head.number === 1;
      const expiresAt = Math.floor(head.sealedAt / 1_000) + headDays * daySeconds;
      const { members, ...rest } = head;
      const inline = members.length <= inlineMembers;
      if (!inline) await rosters.write(gangId, head.token, members, expiresAt);
      return holds(
        client.send(
          new PutCommand({
            TableName: table,
            Item: {
              ...keyOf(gangId, headKey),
              ...(inline ? head : rest),
              expiresAt,
            },
            ConditionExpression: first ? "attribute_not_exists(pk)" : "#number = :before AND completed = :false",
            ...(first
              ? {}
              : {
                  ExpressionAttributeNames: { "#number": "number" },
                  ExpressionAttributeValues: { ":before": head.number - 1, ":false": false },
                }),
          }),
        ),
      );
    },

    async complete(gangId) {
      await holds(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: keyOf(gangId, headKey),
            UpdateExpression: "SET completed = :true",
            ConditionExpression: "attribute_exists(pk)",
            ExpressionAttributeValues: { ":true": true },
          }),
        ),
      );
    },
  };
}

function memberOf({ pk, sk, expiresAt, ...item }: Record<string, unknown>): MemberRecord {
  return item as unknown as MemberRecord;
}

/** Time to live: epoch seconds. */
function dayAfter(leaseExpiresAt: number): number {
  return Math.floor(leaseExpiresAt / 1_000) + daySeconds;
}
