import { inRounds } from "../../core/backoff";
import { hasCode } from "../../core/errors";
import { type Clock, isoTime } from "../../core/ports";
import { defaultExperimentId, type Experiments } from "../../core/tracking/experiments";
import { experimentBusy, experimentExists, experimentNotFound } from "../../core/tracking/records/errors";
import type { Experiment } from "../../core/tracking/shapes";
import { catalog } from "../../platform/permissions/grants";
import { sharedPort, teamPort } from "../port";
import { pauseBeforeRound } from "./client";
import { canBeExperimentId, ExperimentRows } from "./experiment-rows";
import { RecentExperiments } from "./recent-experiments";
import { catalogTable, type Table } from "./table";

/** The maximum number of rounds. A round fails only if another change succeeded in the meantime. */
const rounds = 32;
const retry = (experiment: string) => ({
  rounds,
  pause: pauseBeforeRound,
  busy: () => experimentBusy(experiment, rounds),
});

type NewExperiment = Parameters<Experiments["create"]>[0];

/**
 * Stores teams' experiments in the Catalog table. Use one per process, because it caches experiments, and creates a
 * team's `Default` only once.
 */
export function createExperimentRepositories(table: Table, clock: Clock): (team: string) => Experiments {
  const recent = new RecentExperiments(clock);
  const defaults = new Map<string, Promise<void>>();
  return (team) => {
    const rows = new ExperimentRows(table, team, rounds);

    /** Creates the team's `Default` experiment when a process first accesses the team's experiments. */
    function ensureDefault(): Promise<void> {
      let creation = defaults.get(team);
      if (!creation) {
        creation = createDefault(rows, team, isoTime(clock));
        defaults.set(team, creation);
        creation.catch(() => defaults.delete(team));
      }
      return creation;
    }

    return createExperiments(rows, team, recent, ensureDefault);
  };
}

async function createDefault(rows: ExperimentRows, team: string, at: string): Promise<void> {
  if (await rows.find(defaultExperimentId)) return;
  await rows.insert(firstRevision(team, defaultExperimentId, { name: "Default", tags: {}, by: "ringmaster", at }));
}

function firstRevision(
  team: string,
  experimentId: string,
  { name, tags, by, at, artifactLocation }: NewExperiment,
): Experiment {
  return {
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
  };
}

function createExperiments(
  rows: ExperimentRows,
  team: string,
  recent: RecentExperiments,
  ensureDefault: () => Promise<void>,
): Experiments {
  async function find(experimentId: string): Promise<Experiment | undefined> {
    if (!canBeExperimentId(experimentId)) return undefined;
    await ensureDefault();
    const experiment = await rows.find(experimentId);
    if (experiment?.lifecycle === "active") recent.note(experiment);
    return experiment;
  }

  async function findByName(name: string): Promise<Experiment | undefined> {
    await ensureDefault();
    const row = await rows.findName(name);
    const experiment = row && (await find(row.experimentId));
    // The experiment may have been renamed between the two reads.
    return experiment?.name === name ? experiment : undefined;
  }

  async function create(draft: NewExperiment): Promise<Experiment> {
    const { name, request } = draft;
    await ensureDefault();
    let row = await rows.findName(name);
    if (!row) {
      const experiment = firstRevision(team, await rows.nextId(), draft);
      if (await rows.insert(experiment, request)) return experiment;
      row = await rows.findName(name);
    }
    // The request is repeated, and its first attempt created the experiment.
    const created = row && request !== undefined && row.request === request && (await find(row.experimentId));
    if (created) return created;
    throw experimentExists(name, row?.experimentId);
  }

  return {
    create,
    find,
    findByName,
    findRecent: async (experimentId) => recent.byId(team, experimentId) ?? find(experimentId),

    async ensure(name, by, at) {
      const cached = recent.byName(team, name);
      if (cached) return cached;
      return inRounds(retry(name), async () => {
        const known = await findByName(name);
        if (known) return known;
        try {
          return await create({ name, tags: {}, by, at });
        } catch (error) {
          if (hasCode(error, "EXPERIMENT_EXISTS")) return undefined;
          throw error;
        }
      });
    },

    async list() {
      await ensureDefault();
      return rows.all();
    },

    async change(experimentId, transition) {
      return inRounds(retry(experimentId), async () => {
        const before = await find(experimentId);
        if (!before) throw experimentNotFound({ experimentId });
        const changed = transition(before);
        if (changed === undefined) return before;
        recent.forget(before);
        const after: Experiment = { ...changed, experimentId, team, revision: before.revision + 1 };
        const taken = after.name === before.name ? undefined : (await rows.findName(after.name))?.experimentId;
        if (taken !== undefined && taken !== experimentId) throw experimentExists(after.name, taken);
        return (await rows.replace(before, after)) ? after : undefined;
      });
    },
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
