import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { BatchGetCommand, type DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import { absent, type Expression, ex, exists, type Item, Table } from "../../adapters/dynamodb/table";
import type { GangHead, GangStore, MemberRecord, RegistrationKey, SealedMember } from "./store";

const partition = (gangId: string): string => `GANG#${gangId}`;
const headKey = "HEAD";
const memberKey = (memberId: string): string => `MEMBER#${memberId}`;

const daySeconds = 86_400;
/** Longer than any generation: a head that expired under a running gang would restart the numbers of generations. */
const headDays = 365;

/** Stores gangs in the table `Gangs`, one partition per gang; docs/gang.md has the sums of reads and writes. */
export function createGangStore(client: DynamoDBDocumentClient, tableName: string): GangStore {
  const table = new Table(client, tableName);
  const rosters = new Rosters(table);
  const keyOf = (gangId: string, sk: string) => ({ pk: partition(gangId), sk });

  const update = (
    gangId: string,
    { memberId, incarnation, registration }: RegistrationKey,
    change: Expression,
    condition = ex``,
  ): Promise<boolean> =>
    table.update(
      keyOf(gangId, memberKey(memberId)),
      change,
      ex`incarnation = ${incarnation} AND registration = ${registration}${condition}`,
    );

  async function headOf(gangId: string, { pk, sk, expiresAt, ...item }: Item): Promise<GangHead> {
    const head = item as unknown as GangHead;
    return head.members ? head : { ...head, members: await rosters.read(gangId, head.token) };
  }

  return {
    async read(gangId) {
      const items = await table.all(ex`pk = ${partition(gangId)}`);
      const head = items.find(({ sk }) => sk === headKey);
      return {
        head: head && (await headOf(gangId, head)),
        members: items.filter(({ sk }) => sk !== headKey).map(memberOf),
      };
    },

    async readHead(gangId, memberId) {
      const Keys = [keyOf(gangId, headKey), keyOf(gangId, memberKey(memberId))];
      const get = new BatchGetCommand({ RequestItems: { [tableName]: { Keys, ConsistentRead: true } } });
      const { Responses, UnprocessedKeys } = await client.send(get);
      if (Object.keys(UnprocessedKeys ?? {}).length > 0) throw new Error(`the gang's partition is busy: ${gangId}`);
      const items = Responses?.[tableName] ?? [];
      const head = items.find(({ sk }) => sk === headKey);
      return {
        head: head && (await headOf(gangId, head)),
        members: items.filter(({ sk }) => sk !== headKey).map(memberOf),
      };
    },

    register(gangId, member) {
      const { memberId, incarnation, registeredAt } = member;
      return table.put(
        { ...keyOf(gangId, memberKey(memberId)), ...member, expiresAt: dayAfter(member.leaseExpiresAt) },
        ex`${absent} OR incarnation = ${incarnation} OR registeredAt <= ${registeredAt}`,
      );
    },

    renew: (gangId, key, leaseExpiresAt) =>
      update(gangId, key, ex`SET leaseExpiresAt = ${leaseExpiresAt}, expiresAt = ${dayAfter(leaseExpiresAt)}`),

    reportLost: (gangId, key) => update(gangId, key, ex`SET accused = ${true}`, ex` AND accused = ${false}`),

    async seal(gangId, head) {
      const expiresAt = Math.floor(head.sealedAt / 1_000) + headDays * daySeconds;
      const { members, ...rest } = head;
      const inline = members.length <= inlineMembers;
      if (!inline) await rosters.write(gangId, head.token, members, expiresAt);
      return table.put(
        { ...keyOf(gangId, headKey), ...(inline ? head : rest), expiresAt },
        head.number === 1 ? absent : ex`#number = ${head.number - 1} AND completed = ${false}`,
      );
    },

    async complete(gangId) {
      await table.update(keyOf(gangId, headKey), ex`SET completed = ${true}`, exists);
    },
  };
}

function memberOf({ pk, sk, expiresAt, ...item }: Item): MemberRecord {
  return item as unknown as MemberRecord;
}

/** Time to live: epoch seconds. */
function dayAfter(leaseExpiresAt: number): number {
  return Math.floor(leaseExpiresAt / 1_000) + daySeconds;
}

/** Longer lists are stored outside the head. Otherwise each read of the head of a thousand members costs fifty units. */
export const inlineMembers = 64;

const key = (gangId: string, token: string) => ({ pk: `GANG#${gangId}#ROSTER`, sk: token });

/**
 * Stores a large gang's list as a separate, compressed item, written before the head that names it by its token. If
 * that head loses the race, the list is never read, and expires.
 */
class Rosters {
  private last: { readonly token: string; readonly members: readonly SealedMember[] } | undefined;

  constructor(private readonly table: Table) {}

  async write(gangId: string, token: string, members: readonly SealedMember[], expiresAt: number): Promise<void> {
    const roster = await promisify(gzip)(JSON.stringify(members));
    await this.table.put({ ...key(gangId, token), roster, expiresAt });
  }

  /** @throws if the head names a list that does not exist */
  async read(gangId: string, token: string): Promise<readonly SealedMember[]> {
    if (this.last?.token === token) return this.last.members;
    // An immutable item may be read from any replica at half the price. A replica without it is skipped.
    const packed = (await this.get(gangId, token, false)) ?? (await this.get(gangId, token, true));
    if (!packed) throw new Error(`gang ${gangId} has no list of members for the generation that its head names`);
    const members: readonly SealedMember[] = JSON.parse((await promisify(gunzip)(packed)).toString());
    this.last = { token, members };
    return members;
  }

  private async get(gangId: string, token: string, ConsistentRead: boolean): Promise<Uint8Array | undefined> {
    const get = new GetCommand({ TableName: this.table.name, Key: key(gangId, token), ConsistentRead });
    return (await this.table.client.send(get)).Item?.["roster"];
  }
}
