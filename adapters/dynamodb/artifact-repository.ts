import { mapLimited } from "../../core/each-limited";
import {
  type Artifact,
  type ArtifactOwner,
  type Artifacts,
  artifactPath,
  checkUnprotected,
  directoryPath,
  isAtOrUnder,
  lowestPathIn,
  lowestPathPast,
  ownerName,
  type Protection,
  producedDirectories,
} from "../../core/tracking/artifacts";
import { artifactsBusy } from "../../core/tracking/records/errors";
import type { RunRecords } from "../../core/tracking/run-records";
import type { ArtifactEntry } from "../../core/tracking/shapes";
import { pauseBeforeRound } from "./client";
import { absent, type Expression, ex, type Item, type Table, type Write } from "./table";

/** The writes of a transaction. DynamoDB's limit is 100, and one is the condition. */
const writesPerTransaction = 99;
const rounds = 24;
/**
 * The maximum number of frozen paths of an owner. Beyond it, all of its files are frozen, so that the row stays small.
 */
const maxFrozenPaths = 300;

interface Guard extends Protection {
  readonly condition: Write;
}

function ownerKey(owner: ArtifactOwner): string {
  if (owner.kind === "run") return `RUN#${owner.runId}`;
  return owner.kind === "logged-model" ? `MODEL#${owner.modelId}` : "TEAM";
}

/** Stores frozen paths, and writes artifacts under the condition that no path was frozen after the check. */
function createArtifactProtection(table: Table, team: string, records: Pick<RunRecords, "find">) {
  const keyOf = (owner: ArtifactOwner) => ({ pk: `TEAM#${team}#FROZEN#${ownerKey(owner)}`, sk: "PATHS" });

  async function frozenOf(owner: ArtifactOwner): Promise<readonly string[]> {
    const item = await table.get(keyOf(owner));
    return [...((item?.["paths"] as ReadonlySet<string> | undefined) ?? [])].map((path) => path.slice(0, -1));
  }

  async function guardOf(owner: ArtifactOwner): Promise<Guard> {
    const [frozen, run] = await Promise.all([
      frozenOf(owner),
      owner.kind === "run" ? records.find(owner.runId) : undefined,
    ]);
    // Paths are only added, so the same number means the same set.
    const condition = table.checking(keyOf(owner), frozen.length === 0 ? absent : ex`size(paths) = ${frozen.length}`);
    return { owner, run, frozen, condition };
  }

  return {
    /** @throws ARTIFACT_RESERVED, ARTIFACT_FROZEN, RUN_DELETED if a path is protected */
    async check(owner: ArtifactOwner, paths: readonly string[]): Promise<void> {
      if (owner.kind !== "team") checkUnprotected(await guardOf(owner), paths);
    },

    /** Writes rows of unprotected artifacts. @throws ARTIFACT_RESERVED, ARTIFACT_FROZEN, RUN_DELETED, ARTIFACTS_BUSY */
    async write(owner: ArtifactOwner, paths: readonly string[], writes: readonly Write[]): Promise<void> {
      let guard = await guardOf(owner);
      checkUnprotected(guard, paths);
      for (let from = 0, round = 0; from < writes.length; ) {
        const some = writes.slice(from, from + writesPerTransaction);
        if (await table.tryTransact([guard.condition, ...some])) {
          from += writesPerTransaction;
          round = 0;
        } else {
          round += 1;
          if (round > rounds) throw artifactsBusy(ownerName(owner), rounds);
          await pauseBeforeRound(round);
          guard = await guardOf(owner);
          checkUnprotected(guard, paths);
        }
      }
    },

    async freeze(owner: ArtifactOwner, path: string): Promise<void> {
      const frozen = await frozenOf(owner);
      if (frozen.includes(path) || frozen.includes("")) return;
      const entry = path === "" || frozen.length >= maxFrozenPaths ? "/" : `${path}/`;
      await table.update(keyOf(owner), ex`ADD paths ${new Set([entry])}`);
    },
  };
}

const ownersAtOnce = 16;
/** The rows read by one step of a listing. A directory beyond the page's end is skipped completely. */
const rowsPerStep = 200;

/** @param records know the protected artifacts of a run */
export function createArtifactRepository(table: Table, team: string, records: Pick<RunRecords, "find">): Artifacts {
  const protection = createArtifactProtection(table, team, records);
  const partition = (owner: ArtifactOwner): string => `TEAM#${team}#ARTIFACTS#${ownerKey(owner)}`;

  /** Ends in a slash, so that no file can have the key. A listing treats it like a file in the folder. */
  const folderKey = (folder: string) => ({ pk: partition({ kind: "team" }), sk: lowestPathIn(artifactPath(folder)) });

  async function find(owner: ArtifactOwner, path: string): Promise<Artifact | undefined> {
    const item = await table.get({ pk: partition(owner), sk: artifactPath(path) });
    return item && artifactOf(item);
  }

  function rowsUnder(owner: ArtifactOwner, directory: string): Promise<readonly Item[]> {
    const under = directory === "" ? ex`` : ex` AND begins_with(sk, ${lowestPathIn(directory)})`;
    return table.all(ex`pk = ${partition(owner)}${under}`);
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
    paths.map((sk) => table.deleting({ pk: partition(owner), sk }));

  return {
    find,

    async put(owner, artifacts, folder) {
      const rows = rowsOf(owner, artifacts, folder);
      if (owner.kind === "team") return table.batchWrite(rows);
      const paths = artifacts.map(({ path }) => path);
      const writes = rows.map((row) => table.putting(row));
      return protection.write(owner, paths, writes);
    },

    async putProduced(runId, artifacts, folder) {
      const foreign = artifacts.find(({ path }) => !producedDirectories.some((each) => isAtOrUnder(path, each)));
      if (foreign) throw new Error(`${foreign.path} is not under ${producedDirectories.join(" or ")}`);
      await table.batchWrite(rowsOf({ kind: "run", runId }, artifacts, folder));
    },

    checkWritable: (owner, path) => protection.check(owner, [path]),

    async freeze(owner, path) {
      await protection.freeze(owner, directoryPath(path));
    },

    list: (owner, path) => listDirectory(table, partition(owner), directoryPath(path)),

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
      const directoryPaths = [...(directory === "" ? [] : [directory]), ...pathsOf(rows)];
      if (owner.kind !== "team") return protection.write(owner, directoryPaths, deletionsOf(owner, directoryPaths));
      // Removes the files first, because a folder that still has files must remain visible.
      for (const { owner: each, paths } of removals) await protection.write(each, paths, deletionsOf(each, paths));
      const keys = directoryPaths.map((sk) => ({ pk: partition(owner), sk }));
      await table.batchWrite([], keys);
    },
  };
}

/** Lists a directory, by path. Reads the rows of a deeper directory only up to the end of a page. */
async function listDirectory(table: Table, pk: string, directory: string): Promise<readonly ArtifactEntry[]> {
  const inside = directory === "" ? "" : lowestPathIn(directory);
  // "0" follows "/", so the content of the directory sorts between the two.
  const past = directory === "" ? undefined : lowestPathPast(directory);
  const entryAt = (sk: string) => {
    const [first, ...rest] = sk.slice(inside.length).split("/");
    return { path: `${inside}${first}`, isDirectory: rest.length > 0 };
  };
  const entries = new Map<string, ArtifactEntry>();
  let from: string | undefined = inside || undefined;
  for (;;) {
    const page = await table.read(conditionOf(pk, from, past), { limit: rowsPerStep });
    for (const item of page.items) {
      const sk = item["sk"] as string;
      // The bounds of the read are rows of neighbours and of the directory itself.
      if (sk === past || sk === inside) continue;
      const { path, isDirectory } = entryAt(sk);
      const { bytes, sha256 } = artifactOf(item);
      if (isDirectory) entries.set(`${path}/`, { path, isDirectory });
      else entries.set(path, { path, isDirectory, bytes, sha256 });
    }
    const last = page.last?.["sk"] as string | undefined;
    if (last === undefined) break;
    const { path, isDirectory } = entryAt(last);
    from = isDirectory ? lowestPathPast(path) : `${last}\u0000`;
  }
  return [...entries.values()].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** Returns the owner whose files are listed under a folder's row in the team's tree. */
function ownerIn(row: Item): ArtifactOwner | undefined {
  return row["owner"] as ArtifactOwner | undefined;
}

const pathsOf = (rows: readonly Item[]) => rows.map(({ sk }) => sk as string);

function conditionOf(pk: string, from: string | undefined, past: string | undefined): Expression {
  if (from === undefined) return ex`pk = ${pk}`;
  return past === undefined ? ex`pk = ${pk} AND sk >= ${from}` : ex`pk = ${pk} AND sk BETWEEN ${from} AND ${past}`;
}

function artifactOf(item: Item): Artifact {
  const { pk: _, sk, ...rest } = item;
  return { path: sk as string, ...rest } as unknown as Artifact;
}
