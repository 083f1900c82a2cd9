import { resolve } from "node:path";
import { ownerKeys } from "../adapters/files/owner-keys";
import { formatBytes, formatCount } from "../core/quantities";
import type { CycleState } from "../core/reclamation/ports";
import { tableNameIn } from "../platform/tables";
import { StackNotRunningError } from "./errors";
import { findStack, type StackInfo } from "./stack-file";

/** The prefix of the names of the embedded cloud's resources. */
export const embeddedPrefix = "ringmaster";

/** Reads the state of the newest completed cycle of reclamation; `undefined` before the first one. */
export async function findStorage(connection: ReturnType<typeof connectionTo>): Promise<CycleState | undefined> {
  // Loaded when needed, because most commands only call the API.
  const [{ DynamoDBClient }, { createDocumentClient }, { Table }, { reclamationRow }] = await Promise.all([
    import("@aws-sdk/client-dynamodb"),
    import("../adapters/dynamodb/client"),
    import("../adapters/dynamodb/table"),
    import("../adapters/reclamation/stored-cycle"),
  ]);
  const client = new DynamoDBClient(connection);
  try {
    const table = new Table(createDocumentClient(client), tableNameIn(embeddedPrefix, "Catalog"));
    const rows = await Promise.all([table.get(reclamationRow("cycle")), table.get(reclamationRow("dry-run"))]);
    return rows
      .flatMap((row) => (row === undefined ? [] : [row["state"] as CycleState]))
      .filter(({ phase }) => phase === "done")
      .sort((a, b) => (b.finishedAt ?? 0) - (a.finishedAt ?? 0))[0];
  } finally {
    client.destroy();
  }
}

export const usageText = ({ objects, bytes }: CycleState["deleted"]): string =>
  `${formatBytes(bytes)} in ${formatCount(objects, "object")}`;

/** Returns the connection of the machine's owner to the AWS services of a running stack. @throws StackNotRunningError */
export async function ownerConnection(data: string) {
  const stack = await findStack(data);
  if (!stack) throw new StackNotRunningError(resolve(data));
  return connectionTo(stack);
}

export function connectionTo({ endpoint, data }: StackInfo) {
  return { endpoint, region: "us-east-1", credentials: ownerKeys(data) };
}
