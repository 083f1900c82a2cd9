import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { inRounds } from "../../core/backoff";
import { BoundedMap } from "../../core/bounded-map";
import { sha256 } from "../../core/digest";
import { hasCode } from "../../core/errors";
import { type Clock, isoTime } from "../../core/ports";
import { defaultExperimentId, type Experiments } from "../../core/tracking/experiments";
import {
  experimentBusy,
  experimentExists,
  experimentNotFound,
  experimentTooLarge,
} from "../../core/tracking/records/errors";
import type { Experiment } from "../../core/tracking/shapes";
import { catalog } from "../../platform/permissions/grants";
import { sharedPort, teamPort } from "../port";
import { pauseBeforeRound } from "./client";
import { absent, catalogTable, ex, type Item, type Key, type Table } from "./table";

/** The maximum bytes of JSON. The rest of DynamoDB's 400 KB is for overhead. */
const maxBytes = 350_000;

/** Tests whether a text can be an experiment's id, which has only one spelling for each number. */
const canBeExperimentId = (text: string): boolean => /^(0|[1-9]\d{0,11})$/.test(text);

/** The row by which a name is unique and leads to its experiment. */
interface NameRow {
  readonly name: string;
  readonly experimentId: string;
  readonly request?: string | undefined;
}

/** The rows of a team's experiments in table Catalog (docs/access-patterns.md, "Experiments"). */
class ExperimentRows {
  private readonly pk: string;

  /** @param rounds maximum number of attempts of a transaction that conflicts with another */
  constructor(
    private readonly table: Table,
    team: string,
    private readonly rounds: number,
  ) {
    this.pk = `TEAM#${team}#EXPERIMENTS`;
  }

  async find(experimentId: string): Promise<Experiment | undefined> {
    return (await this.table.get(this.idKey(experimentId)))?.["experiment"] as Experiment | undefined;
  }

  async findName(name: string): Promise<NameRow | undefined> {
    return (await this.table.get(this.nameKey(name))) as NameRow | undefined;
  }

  async all(): Promise<readonly Experiment[]> {
    const rows = await this.table.all(ex`pk = ${this.pk} AND begins_with(sk, ${"EXPERIMENT#"})`);
    return rows.map(({ experiment }) => experiment as Experiment);
  }

  /**
   * Returns the next id. Ids have gaps if a name was taken in the meantime, and concurrent creations do not wait for
   * each other.
   */
  async nextId(): Promise<string> {
    const { Update } = this.table.updating({ pk: this.pk, sk: "COUNTER" }, ex`ADD latest ${1}`);
    const { Attributes } = await this.table.client.send(new UpdateCommand({ ...Update, ReturnValues: "UPDATED_NEW" }));
    return String(Attributes?.["latest"]);
  }

  /** Writes a new experiment. Returns `false` if its id or its name is taken. @throws EXPERIMENT_TOO_LARGE */
  insert(experiment: Experiment, request?: string): Promise<boolean> {
    const { name, experimentId } = experiment;
    const writes = [
      this.table.putting(this.row(experiment), absent),
      this.table.putting(this.nameRow({ name, experimentId, request }), absent),
    ];
    return this.table.transact(writes, this.rounds);
  }

  /**
   * Writes a changed experiment. Returns `false` if another process has changed it in the meantime, or has taken its new
   * name.
   *
   * @throws EXPERIMENT_TOO_LARGE
   */
  replace(before: Experiment, after: Experiment): Promise<boolean> {
    const unchanged = ex`experiment.revision = ${before.revision}`;
    if (after.name === before.name) return this.table.put(this.row(after), unchanged);
    const { name, experimentId } = after;
    const writes = [
      this.table.putting(this.row(after), unchanged),
      this.table.putting(this.nameRow({ name, experimentId }), absent),
      this.table.deleting(this.nameKey(before.name)),
    ];
    return this.table.transact(writes, this.rounds);
  }

  private row(experiment: Experiment): Item {
    const bytes = Buffer.byteLength(JSON.stringify(experiment));
    if (bytes > maxBytes) throw experimentTooLarge(experiment.name, bytes, maxBytes);
    return { ...this.idKey(experiment.experimentId), experiment };
  }

  private nameRow(row: NameRow): Item {
    return { ...this.nameKey(row.name), ...row };
  }

  private idKey(experimentId: string): Key {
    return { pk: this.pk, sk: `EXPERIMENT#${experimentId.padStart(12, "0")}` };
  }

  /** Returns the key of a name. It contains a hash, because a name may be longer than a key. */
  private nameKey(name: string): Key {
    return { pk: this.pk, sk: `NAME#${sha256(name)}` };
  }
}

/** The time that a cached experiment is trusted. Another process's change is seen after that. */
const trustedMs = 1_000;
const maxCached = 10_000;

/**
 * A cache of recently read experiments. A client that creates thousands of runs then does not read its experiment each
 * time.
 */
class RecentExperiments {
  private readonly known = new BoundedMap<string, { readonly experiment: Experiment; readonly until: number }>(
    maxCached,
  );

  constructor(private readonly clock: Clock) {}

  note(experiment: Experiment): void {
    const kept = { experiment, until: this.clock.now() + trustedMs };
    this.known.set(this.idKey(experiment.team, experiment.experimentId), kept);
    this.known.set(this.nameKey(experiment.team, experiment.name), kept);
  }

  /** Removes an experiment. Call it before the experiment changes. */
  forget({ team, experimentId, name }: Experiment): void {
    this.known.delete(this.idKey(team, experimentId));
    this.known.delete(this.nameKey(team, name));
  }

  byId(team: string, experimentId: string): Experiment | undefined {
    return this.fresh(this.idKey(team, experimentId));
  }

  byName(team: string, name: string): Experiment | undefined {
    return this.fresh(this.nameKey(team, name));
  }

  private fresh(key: string): Experiment | undefined {
    const found = this.known.get(key);
    return found && found.until > this.clock.now() ? found.experiment : undefined;
  }

  private idKey(team: string, experimentId: string): string {
    return `${team}/${experimentId}`;
  }

  private nameKey(team: string, name: string): string {
    return `${team}/name/${name}`;
  }
}

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
function createExperimentRepositories(table: Table, clock: Clock): (team: string) => Experiments {
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

const allExperiments = sharedPort({
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
