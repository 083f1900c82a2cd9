import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { GetCommand } from "@aws-sdk/lib-dynamodb";
import type { Table } from "../../adapters/dynamodb/table";
import type { SealedMember } from "./model";

/** Longer lists are stored outside the head. Otherwise each read of the head of a thousand members costs fifty units. */
export const inlineMembers = 64;

const key = (gangId: string, token: string) => ({ pk: `GANG#${gangId}#ROSTER`, sk: token });

/**
 * Stores the sealed lists of large gangs as separate items that never change. A list is written before the head that
 * names it by its token. If that head loses the race, its list is never read, and expires. Lists are compressed: 60 bytes
 * per member instead of 180.
 */
export class Rosters {
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
