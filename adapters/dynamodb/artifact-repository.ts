import { BatchWriteCommand, type DynamoDBDocumentClient, GetCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { mapLimited } from "../../core/each-limited";
import type { Artifact, ArtifactOwner, Artifacts } from "../../core/tracking/artifacts";
import {
  artifactPath,
  directoryPath,
  isAtOrUnder,
  lowestPathIn,
  lowestPathPast,
} from "../../core/tracking/records/artifact-paths";
import { producedDirectories } from "../../core/tracking/records/produced";
import type { RunRecords } from "../../core/tracking/run-records";
import type { ArtifactEntry } from "../../core/tracking/shapes";
import { createArtifactProtection } from "./artifact-protection";
import { pauseBeforeRound, queryAll } from "./client";

/** DynamoDB's limit. */
const rowsPerWrite = 25;
/** The number of owners whose files are removed concurrently. */
const ownersAtOnce = 16;
/** The rows read by one step of a listing. A directory beyond the page's end is skipped completely. */
const rowsPerStep = 200;

/**
 * Stores a team's artifact names in the Catalog table (docs/access-patterns.md, "Artifacts").
 *
 * @param records know the protected artifacts of a run
 */
export function createArtifactRepository(
  client: DynamoDBDocumentClient,
  table: string,
  team: string,
  records: Pick<RunRecords, "find">,
): Artifacts {
  const protection = createArtifactProtection(client, table, team, records);
  const prefix = `TEAM#${team}#ARTIFACTS#`;
  const partition = (owner: ArtifactOwner): string =>
    owner.kind === "run"
      ? `${prefix}RUN#${owner.runId}`
      : owner.kind === "logged-model"
        ? `${prefix}MODEL#${owner.modelId}`
        : `${prefix}TEAM`;

  /**
   * Returns the key of a folder's row in the team's own tree. It ends in a slash, so no file can have it. A listing
   * treats it like a file in the folder.
   */
  const folderKey = (folder: string) => ({ pk: partition({ kind: "team" }), sk: lowestPathIn(artifactPath(folder)) });

  async function find(owner: ArtifactOwner, path: string): Promise<Artifact | undefined> {
    const { Item } = await client.send(
      new GetCommand({
        TableName: table,
        Key: { pk: partition(owner), sk: artifactPath(path) },
        ConsistentRead: true,
      }),
    );
    return Item && artifactOf(Item);
  }

  async function writeRows(requests: readonly Record<string, unknown>[]): Promise<void> {
    for (let from = 0; from < requests.length; from += rowsPerWrite) {
      let left: readonly Record<string, unknown>[] | undefined = requests.slice(from, from + rowsPerWrite);
      for (let round = 0; left && left.length > 0; round += 1) {
        if (round > 0) await pauseBeforeRound(round);
        const answer = await client.send(new BatchWriteCommand({ RequestItems: { [table]: [...left] } }));
        left = answer.UnprocessedItems?.[table] as typeof left;
      }
    }
  }

  async function rowsUnder(owner: ArtifactOwner, directory: string) {
    const prefix = directory === "" ? undefined : lowestPathIn(directory);
    return queryAll(client, {
      TableName: table,
      KeyConditionExpression: prefix === undefined ? "pk = :pk" : "pk = :pk AND begins_with(sk, :prefix)",
      ExpressionAttributeValues: { ":pk": partition(owner), ...(prefix === undefined ? {} : { ":prefix": prefix }) },
      ConsistentRead: true,
    });
  }

  function rowsOf(owner: ArtifactOwner, artifacts: readonly Artifact[], folder: string | undefined) {
    // The last entry for a path applies, because a write must not contain a row twice.
    const files = new Map(artifacts.map((artifact) => [artifactPath(artifact.path), artifact]));
    return [
      ...(folder === undefined ? [] : [{ ...folderKey(folder), owner }]),
      ...[...files].map(([sk, { path: _, ...rest }]) => ({ pk: partition(owner), sk, ...rest })),
    ];
  }

  const deletionsOf = (owner: ArtifactOwner, paths: readonly string[]) =>
    paths.map((sk) => ({ Delete: { TableName: table, Key: { pk: partition(owner), sk } } }));

  return {
    find,

    async put(owner, artifacts, folder) {
      const rows = rowsOf(owner, artifacts, folder);
      if (owner.kind === "team") return writeRows(rows.map((Item) => ({ PutRequest: { Item } })));
      const writes = rows.map((Item) => ({ Put: { TableName: table, Item } }));
      return protection.write(
        owner,
        artifacts.map(({ path }) => path),
        writes,
      );
    },

    async putProduced(runId, artifacts, folder) {
      const foreign = artifacts.find(({ path }) => !producedDirectories.some((each) => isAtOrUnder(path, each)));
      if (foreign) throw new Error(`${foreign.path} is not under ${producedDirectories.join(" or ")}`);
      const rows = rowsOf({ kind: "run", runId }, artifacts, folder);
      await writeRows(rows.map((Item) => ({ PutRequest: { Item } })));
    },

    checkWritable: (owner, path) => protection.check(owner, [path]),

    async freeze(owner, path) {
      await protection.freeze(owner, directoryPath(path));
    },

    async list(owner, path) {
      const directory = directoryPath(path);
      const inside = directory === "" ? "" : lowestPathIn(directory);
      const entries = new Map<string, ArtifactEntry>();
      // "0" follows "/", so the content of the directory sorts between the two.
      const past = directory === "" ? undefined : lowestPathPast(directory);
      for (let from: string | undefined = inside || undefined; ; ) {
        const page: { Items?: Record<string, unknown>[]; LastEvaluatedKey?: Record<string, unknown> } =
          await client.send(
            new QueryCommand({
              TableName: table,
              KeyConditionExpression: conditionOf(from, past),
              ExpressionAttributeValues: {
                ":pk": partition(owner),
                ...(from === undefined ? {} : { ":from": from }),
                ...(past === undefined ? {} : { ":past": past }),
              },
              ConsistentRead: true,
              Limit: rowsPerStep,
            }),
          );
        for (const item of page.Items ?? []) {
          const sk = item["sk"] as string;
          if (sk === past) continue;
          if (sk === inside) continue;
          const [first, ...rest] = sk.slice(inside.length).split("/");
          const name = `${inside}${first}`;
          if (rest.length > 0) entries.set(`${name}/`, { path: name, isDirectory: true });
          else {
            const { bytes, sha256 } = artifactOf(item);
            entries.set(name, { path: name, isDirectory: false, bytes, sha256 });
          }
        }
        const last = page.LastEvaluatedKey?.["sk"] as string | undefined;
        if (last === undefined) break;
        const [first, ...rest] = last.slice(inside.length).split("/");
        from = rest.length > 0 ? lowestPathPast(`${inside}${first}`) : `${last}\u0000`;
      }
      return [...entries.values()].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
    },

    async listAll(owner, path) {
      const directory = directoryPath(path);
      const file = directory === "" ? undefined : await find(owner, directory);
      const rows = (await rowsUnder(owner, directory)).filter((row) => ownerIn(row) === undefined);
      return [...(file ? [file] : []), ...rows.map(artifactOf)];
    },

    async remove(owner, path) {
      const directory = directoryPath(path);
      const rows = await rowsUnder(owner, directory);
      const behind = rows.flatMap((row) => ownerIn(row) ?? []);
      const removals = await mapLimited(behind, ownersAtOnce, async (each) => {
        const paths = pathsOf(await rowsUnder(each, ""));
        await protection.check(each, paths);
        return { owner: each, paths };
      });
      const own = [...(directory === "" ? [] : [directory]), ...pathsOf(rows)];
      if (owner.kind !== "team") return protection.write(owner, own, deletionsOf(owner, own));
      // Removes the files first, because a folder that still has files must remain visible.
      for (const { owner: each, paths } of removals) await protection.write(each, paths, deletionsOf(each, paths));
      await writeRows(own.map((sk) => ({ DeleteRequest: { Key: { pk: partition(owner), sk } } })));
    },
  };
}

/** Returns the owner whose files are listed under a folder's row in the team's tree. */
function ownerIn(row: Record<string, unknown>): ArtifactOwner | undefined {
  return row["owner"] as ArtifactOwner | undefined;
}

function pathsOf(rows: readonly Record<string, unknown>[]): readonly string[] {
  return rows.map(({ sk }) => sk as string);
}

function conditionOf(from: string | undefined, past: string | undefined): string {
  if (from === undefined) return "pk = :pk";
  return past === undefined ? "pk = :pk AND sk >= :from" : "pk = :pk AND sk BETWEEN :from AND :past";
}

function artifactOf(item: Record<string, unknown>): Artifact {
  const { pk: _, sk, ...rest } = item;
  return { path: sk as string, ...rest } as unknown as Artifact;
}
