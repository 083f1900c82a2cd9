import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { inRounds } from "../../core/backoff";
import { sha256 } from "../../core/digest";
import { type Clock, isoTime } from "../../core/ports";
import type { Experiments } from "../../core/tracking/experiments";
import { defaultExperimentId } from "../../core/tracking/experiments";
import {
  ExperimentBusyError,
  ExperimentExistsError,
  ExperimentNotFoundError,
  ExperimentTooLargeError,
} from "../../core/tracking/records/errors";
import type { Experiment } from "../../core/tracking/shapes";
import { catalog } from "../../platform/permissions/grants";
import { sharedPort, teamPort } from "../port";
import { pauseBeforeRound } from "./client";
import { absent, ex } from "./expression";
import { RecentExperiments } from "./recent-experiments";
import { catalogTable, type Item, type Table } from "./table";

/** The maximum bytes of JSON. The rest of DynamoDB's 400 KB is for overhead. */
const maxBytes = 350_000;
/** The maximum number of rounds. A round fails only if another change succeeded in the meantime. */
const rounds = 32;
const retry = (experiment: string) => ({
  rounds,
  pause: pauseBeforeRound,
  busy: () => new ExperimentBusyError(experiment, rounds),
});

type NewExperiment = Parameters<Experiments["create"]>[0];

/** The form of an id. It has only one spelling for each number. */
const idForm = /^(0|[1-9]\d{0,11})$/;
const idKey = (experimentId: string): string => `EXPERIMENT#${experimentId.padStart(12, "0")}`;
/** Returns the key of a name. It contains a hash, because a name may be longer than a key. */
const nameKey = (name: string): string => `NAME#${sha256(name)}`;

/**
 * Stores teams' experiments in the Catalog table (docs/access-patterns.md, "Experiments"). Use one per process, because
 * it creates a team's `Default` only once.
 */
export function createExperimentRepositories(table: Table, clock: Clock): (team: string) => Experiments {
  const withDefault = new Map<string, Promise<void>>();
  const recent = new RecentExperiments(clock);

  return (team) => {
    const pk = `TEAM#${team}#EXPERIMENTS`;
    const get = (sk: string): Promise<Item | undefined> => table.get({ pk, sk });

    function row(experiment: Experiment): Item {
      const bytes = Buffer.byteLength(JSON.stringify(experiment));
      if (bytes > maxBytes) throw new ExperimentTooLargeError(experiment.name, bytes, maxBytes);
      return { pk, sk: idKey(experiment.experimentId), experiment };
    }
    const pointer = (name: string, experimentId: string, request?: string) => ({
      pk,
      sk: nameKey(name),
      name,
      experimentId,
      request,
    });

    function putNew(experiment: Experiment, request?: string): Promise<boolean> {
      const named = pointer(experiment.name, experiment.experimentId, request);
      return table.transact([table.putting(row(experiment), absent), table.putting(named, absent)], rounds);
    }

    /** Creates the team's `Default` experiment when a process first accesses the team's experiments. */
    function ensureDefault(): Promise<void> {
      let making = withDefault.get(team);
      if (!making) {
        making = makeDefault();
        withDefault.set(team, making);
        making.catch(() => withDefault.delete(team));
      }
      return making;
    }

    async function makeDefault(): Promise<void> {
      if (await get(idKey(defaultExperimentId))) return;
      await putNew(experimentOf(defaultExperimentId, "Default", { tags: {}, by: "ringmaster", at: isoTime(clock) }));
    }

    const experimentOf = (
      experimentId: string,
      name: string,
      { tags, by, at, artifactLocation }: Omit<NewExperiment, "name" | "request">,
    ): Experiment => ({
      experimentId,
      name,
      team,
      lifecycle: "active",
      tags,
      artifactLocation: artifactLocation ?? `mlflow-artifacts:/${experimentId}`,
      createdBy: by,
      createdAt: at,
      updatedAt: at,
      revision: 1,
    });

    async function find(experimentId: string): Promise<Experiment | undefined> {
      if (!idForm.test(experimentId)) return undefined;
      await ensureDefault();
      const experiment = (await get(idKey(experimentId)))?.["experiment"] as Experiment | undefined;
      if (experiment?.lifecycle === "active") recent.note(experiment);
      return experiment;
    }

    async function idOfName(name: string): Promise<string | undefined> {
      return (await get(nameKey(name)))?.["experimentId"] as string | undefined;
    }

    async function findByName(name: string): Promise<Experiment | undefined> {
      await ensureDefault();
      const experimentId = await idOfName(name);
      const experiment = experimentId === undefined ? undefined : await find(experimentId);
      // The experiment may have been renamed between the two reads.
      return experiment?.name === name ? experiment : undefined;
    }

    /**
     * Returns the next id. Ids have gaps if a name was taken in the meantime, and concurrent creations do not wait for
     * each other.
     */
    async function nextId(): Promise<string> {
      const { Update } = table.updating({ pk, sk: "COUNTER" }, ex`ADD latest ${1}`);
      const { Attributes } = await table.client.send(new UpdateCommand({ ...Update, ReturnValues: "UPDATED_NEW" }));
      return String(Attributes?.["latest"]);
    }

    async function create({ name, request, ...rest }: NewExperiment): Promise<Experiment> {
      await ensureDefault();
      const known = await get(nameKey(name));
      if (!known) {
        const experiment = experimentOf(await nextId(), name, rest);
        if (await putNew(experiment, request)) return experiment;
      }
      const pointerRow = known ?? (await get(nameKey(name)));
      const id = pointerRow?.["experimentId"] as string | undefined;
      if (request !== undefined && pointerRow?.["request"] === request && id !== undefined) {
        // The request is repeated, and its first attempt created the experiment.
        const created = await find(id);
        if (created) return created;
      }
      throw new ExperimentExistsError(name, id);
    }

    return {
      create,
      find,
      findByName,
      findRecent: async (experimentId) => recent.byId(team, experimentId) ?? find(experimentId),

      async ensure(name, by, at) {
        const met = recent.byName(team, name);
        if (met) return met;
        return inRounds(retry(name), async () => {
          const known = await findByName(name);
          if (known) return known;
          try {
            return await create({ name, tags: {}, by, at });
          } catch (error) {
            if (error instanceof ExperimentExistsError) return undefined;
            throw error;
          }
        });
      },

      async list() {
        await ensureDefault();
        const rows = await table.all(ex`pk = ${pk} AND begins_with(sk, ${"EXPERIMENT#"})`);
        return rows.map(({ experiment }) => experiment as Experiment);
      },

      async change(experimentId, transition) {
        return inRounds(retry(experimentId), async () => {
          const before = await find(experimentId);
          if (!before) throw new ExperimentNotFoundError({ experimentId });
          const changed = transition(before);
          if (changed === undefined) return before;
          recent.forget(before);
          const after: Experiment = { ...changed, experimentId, team, revision: before.revision + 1 };
          const unchanged = ex`experiment.revision = ${before.revision}`;
          if (after.name === before.name) {
            if (await table.put(row(after), unchanged)) return after;
          } else {
            const taken = await idOfName(after.name);
            if (taken !== undefined && taken !== experimentId) throw new ExperimentExistsError(after.name, taken);
            const writes = [
              table.putting(row(after), unchanged),
              table.putting(pointer(after.name, experimentId), absent),
              table.deleting({ pk, sk: nameKey(before.name) }),
            ];
            if (await table.transact(writes, rounds)) return after;
          }
          return undefined;
        });
      },
    };
  };
}

export const allExperiments = sharedPort({
  uses: { table: catalogTable() },
  make: ({ table }, { clock }) => createExperimentRepositories(table, clock),
});

export const experiments = teamPort({
  uses: { all: allExperiments() },
  grants: {
    read: [catalog("GetItem")],
    ensure: [catalog("GetItem", "PutItem", "UpdateItem")],
    list: [catalog("Query")],
    change: [catalog("PutItem", "DeleteItem", "ConditionCheckItem")],
  },
  make: ({ all }, { team }) => all(team),
});
