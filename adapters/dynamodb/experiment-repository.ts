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
import { teamPort } from "../port";
import { pauseBeforeRound } from "./client";
import { absent, catalogPort, ex, type Item, type Table } from "./table";

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

/** The time that a cached experiment is trusted. Another process's change is seen after that. */
const trustedMs = 1_000;
const maxCached = 10_000;

/** A client that creates thousands of runs does not read its experiment each time. */
class RecentExperiments {
  private readonly known = new BoundedMap<string, { readonly experiment: Experiment; readonly until: number }>(
    maxCached,
  );

  constructor(private readonly clock: Clock) {}

  note(experiment: Experiment): void {
    const kept = { experiment, until: this.clock.now() + trustedMs };
    for (const key of keysOf(experiment)) this.known.set(key, kept);
  }

  /** Removes an experiment. Call it before the experiment changes. */
  forget(experiment: Experiment): void {
    for (const key of keysOf(experiment)) this.known.delete(key);
  }

  find(team: string, by: "id" | "name", text: string): Experiment | undefined {
    const entry = this.known.get(`${team}/${by}/${text}`);
    return entry && entry.until > this.clock.now() ? entry.experiment : undefined;
  }
}

const keysOf = ({ team, experimentId, name }: Experiment) => [`${team}/id/${experimentId}`, `${team}/name/${name}`];

/** The maximum number of rounds. A round fails only if another change succeeded in the meantime. */
const rounds = 32;
const retry = (experiment: string) => ({
  rounds,
  pause: pauseBeforeRound,
  busy: () => experimentBusy(experiment, rounds),
});

type NewExperiment = Parameters<Experiments["create"]>[0];

/** Use one per process: it caches experiments, and creates a team's `Default` only once. */
function createExperimentRepositories(table: Table, clock: Clock): (team: string) => Experiments {
  const recent = new RecentExperiments(clock);
  const defaults = new Map<string, Promise<unknown>>();
  return (team) => createExperiments(table, team, clock, recent, defaults);
}

function createExperiments(
  table: Table,
  team: string,
  clock: Clock,
  recent: RecentExperiments,
  defaults: Map<string, Promise<unknown>>,
): Experiments {
  const pk = `TEAM#${team}#EXPERIMENTS`;
  const keyOf = (experimentId: string) => ({ pk, sk: `EXPERIMENT#${experimentId.padStart(12, "0")}` });
  /** Returns the key of a name. It contains a hash, because a name may be longer than a key. */
  const nameKey = (name: string) => ({ pk, sk: `NAME#${sha256(name)}` });
  const nameRow = (row: NameRow): Item => ({ ...nameKey(row.name), ...row });
  const findName = async (name: string) => (await table.get(nameKey(name))) as NameRow | undefined;

  function rowOf(record: Experiment): Item {
    const bytes = Buffer.byteLength(JSON.stringify(record));
    if (bytes > maxBytes) throw experimentTooLarge(record.name, bytes, maxBytes);
    return { ...keyOf(record.experimentId), record };
  }

  /** Ids have gaps where a name was taken in the meantime, and concurrent creations do not wait for each other. */
  async function nextId(): Promise<string> {
    const { Update } = table.updating({ pk, sk: "COUNTER" }, ex`ADD latest ${1}`);
    const { Attributes } = await table.client.send(new UpdateCommand({ ...Update, ReturnValues: "UPDATED_NEW" }));
    return String(Attributes?.["latest"]);
  }

  /** Writes a new experiment. Returns `undefined` if its id or its name is taken. @throws EXPERIMENT_TOO_LARGE */
  async function insert(experimentId: string, draft: NewExperiment): Promise<Experiment | undefined> {
    const { name, tags, by, at, request, artifactLocation = `mlflow-artifacts:/${experimentId}` } = draft;
    const experiment: Experiment = {
      ...{ experimentId, name, team, lifecycle: "active", tags, artifactLocation },
      ...{ createdBy: by, createdAt: at, updatedAt: at, revision: 1 },
    };
    const writes = [
      table.putting(rowOf(experiment), absent),
      table.putting(nameRow({ name, experimentId, request }), absent),
    ];
    return (await table.transact(writes, rounds)) ? experiment : undefined;
  }

  /** Returns `false` if another process has changed it, or has taken its new name. @throws EXPERIMENT_TOO_LARGE */
  function replace(before: Experiment, after: Experiment): Promise<boolean> {
    const unchanged = ex`#record.revision = ${before.revision}`;
    const { name, experimentId } = after;
    if (name === before.name) return table.put(rowOf(after), unchanged);
    const writes = [
      table.putting(rowOf(after), unchanged),
      table.putting(nameRow({ name, experimentId }), absent),
      table.deleting(nameKey(before.name)),
    ];
    return table.transact(writes, rounds);
  }

  async function createDefault(): Promise<void> {
    if (await table.get(keyOf(defaultExperimentId))) return;
    await insert(defaultExperimentId, { name: "Default", tags: {}, by: "ringmaster", at: isoTime(clock) });
  }

  /** Creates the team's `Default` experiment when a process first accesses the team's experiments. */
  async function ensureDefault(): Promise<void> {
    const creation = defaults.get(team) ?? createDefault();
    defaults.set(team, creation);
    await creation.catch((error: unknown) => {
      if (defaults.get(team) === creation) defaults.delete(team);
      throw error;
    });
  }

  async function find(experimentId: string): Promise<Experiment | undefined> {
    if (!canBeExperimentId(experimentId)) return undefined;
    await ensureDefault();
    const experiment = await table.record<Experiment>(keyOf(experimentId));
    if (experiment?.lifecycle === "active") recent.note(experiment);
    return experiment;
  }

  async function findByName(name: string): Promise<Experiment | undefined> {
    await ensureDefault();
    const row = await findName(name);
    const experiment = row && (await find(row.experimentId));
    // The experiment may have been renamed between the two reads.
    return experiment?.name === name ? experiment : undefined;
  }

  async function create(draft: NewExperiment): Promise<Experiment> {
    const { name, request } = draft;
    await ensureDefault();
    const newExperiment = (await findName(name)) ? undefined : await insert(await nextId(), draft);
    if (newExperiment) return newExperiment;
    const row = await findName(name);
    // The request is repeated, and its first attempt created the experiment.
    const created = row && request !== undefined && row.request === request && (await find(row.experimentId));
    if (created) return created;
    throw experimentExists(name, row?.experimentId);
  }

  return {
    create,
    find,
    findByName,
    findRecent: async (experimentId) => recent.find(team, "id", experimentId) ?? find(experimentId),

    async ensure(name, by, at) {
      const cached = recent.find(team, "name", name);
      if (cached) return cached;
      return inRounds(retry(name), async () => {
        const experiment = await findByName(name);
        if (experiment) return experiment;
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
      return table.records(ex`pk = ${pk} AND begins_with(sk, ${"EXPERIMENT#"})`);
    },

    async change(experimentId, transition) {
      return inRounds(retry(experimentId), async () => {
        const before = await find(experimentId);
        if (!before) throw experimentNotFound({ experimentId });
        const changed = transition(before);
        if (changed === undefined) return before;
        recent.forget(before);
        const after: Experiment = { ...changed, experimentId, team, revision: before.revision + 1 };
        const taken = after.name === before.name ? undefined : (await findName(after.name))?.experimentId;
        if (taken !== undefined && taken !== experimentId) throw experimentExists(after.name, taken);
        return (await replace(before, after)) ? after : undefined;
      });
    },
  };
}

const allExperiments = catalogPort(createExperimentRepositories);

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
