import type { ArtifactOwner } from "../../core/tracking/artifacts";
import { checkUnprotected, ownerName, type Protection } from "../../core/tracking/records/artifact-paths";
import { artifactsBusy } from "../../core/tracking/records/errors";
import type { RunRecords } from "../../core/tracking/run-records";
import { pauseBeforeRound } from "./client";
import { absent, ex } from "./expression";
import type { Table, Write } from "./table";

/** The writes of a transaction. DynamoDB's limit is 100, and one is the condition. */
const writesPerTransaction = 99;
const rounds = 24;
/**
 * The maximum number of frozen paths of an owner. Beyond it, all of the owner's files are frozen, so that the row stays
 * small.
 */
const maxFrozenPaths = 300;

/** The protection of an owner's files, with the condition under which it still applies. */
interface Guard extends Protection {
  readonly condition: Write;
}

/**
 * Stores the frozen paths of runs and logged models. It writes artifacts under the condition that no path was frozen
 * after the check.
 */
export function createArtifactProtection(table: Table, team: string, records: Pick<RunRecords, "find">) {
  const keyOf = (owner: ArtifactOwner) => ({
    pk: `TEAM#${team}#FROZEN#${owner.kind === "run" ? `RUN#${owner.runId}` : owner.kind === "logged-model" ? `MODEL#${owner.modelId}` : "TEAM"}`,
    sk: "PATHS",
  });

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
    return { owner, ...(run === undefined ? {} : { run }), frozen, condition };
  }

  return {
    /**
     * Checks that paths may be written.
     * @throws ARTIFACT_RESERVED, ARTIFACT_FROZEN, RUN_DELETED
     */
    async check(owner: ArtifactOwner, paths: readonly string[]): Promise<void> {
      if (owner.kind !== "team") checkUnprotected(await guardOf(owner), paths);
    },

    /**
     * Writes rows of an owner's artifacts, unless one of the paths is protected.
     *
     * @throws ARTIFACT_RESERVED, ARTIFACT_FROZEN, RUN_DELETED, ARTIFACTS_BUSY
     */
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
