import { BoundedMap } from "../../core/bounded-map";
import type { StudyIndex, StudyRepository, StudyState } from "../../core/tuning/ports";
import type { Study, Trial } from "../../core/tuning/shapes";
import { catalog, queryIndex } from "../../platform/permissions/grants";
import { absent, catalogPort, ex, type Item, recordOf, type Table, teamCatalogPort, type Write } from "./table";

const openStudies = "STUDIES#OPEN";
const maxLoaded = 8;

/**
 * States that this process has read or written, by partition. Every write of a study or a trial raises the study's revision,
 * so a state is current while the stored study has its revision. A driver therefore reads one item instead of all trials.
 */
const loadedFrom = new WeakMap<Table, BoundedMap<string, StudyState>>();

export function createStudyRepository(table: Table, team: string): StudyRepository {
  const pk = (study: string): string => `TEAM#${team}#STUDY#${study}`;
  const head = (study: string) => ({ pk: pk(study), sk: "STUDY" });

  const headRow = (study: Study): Item => ({
    ...head(study.name),
    gsi1pk: `TEAM#${team}#STUDIES`,
    gsi1sk: `${study.createdAt}#${study.name}`,
    revision: study.revision,
    record: study,
  });
  /** The sweep's row; a study that has nothing left to do has none. */
  const openRow = (study: Study): Write => {
    const key = { pk: pk(study.name), sk: "OPEN" };
    if (!isOpenStudy(study)) return table.deleting(key);
    return table.putting({ ...key, gsi1pk: openStudies, gsi1sk: `${team}#${study.name}`, team, study: study.name });
  };
  const trialRow = (study: string, trial: Trial): Item => ({
    pk: pk(study),
    sk: `TRIAL#${String(trial.number).padStart(6, "0")}`,
    record: trial,
  });
  const find = (name: string) => table.record<Study>(head(name));
  const loaded = loadedFrom.get(table) ?? new BoundedMap<string, StudyState>(maxLoaded);
  loadedFrom.set(table, loaded);

  async function loadAll(name: string): Promise<StudyState | undefined> {
    const items = await table.all(ex`pk = ${pk(name)}`);
    const head = items.find(({ sk }) => sk === "STUDY");
    const trials = items.filter(({ sk }) => String(sk).startsWith("TRIAL#"));
    return head && { study: recordOf(head), trials: trials.map((item) => recordOf<Trial>(item)) };
  }

  return {
    async create(study) {
      const created = await table.transact([table.putting(headRow(study), absent), openRow(study)], 5);
      if (created) return { created, study };
      const existingStudy = await find(study.name);
      if (existingStudy === undefined) throw new Error(`the study ${study.name} exists and cannot be read`);
      return { created, study: existingStudy };
    },

    find,

    async load(name) {
      const cachedState = loaded.get(pk(name));
      if (cachedState && (await find(name))?.revision === cachedState.study.revision) return cachedState;
      const state = await loadAll(name);
      // A write between two pages of trials must not be kept under the revision before it.
      if (state && (await find(name))?.revision === state.study.revision) loaded.set(pk(name), state);
      return state;
    },

    list: (page) => table.page(ex`gsi1pk = ${`TEAM#${team}#STUDIES`}`, { ...page, index: "gsi1", descending: true }),

    async save(study, trials) {
      const saved = await table.tryTransact([
        table.putting(headRow(study), ex`revision = ${study.revision - 1}`),
        openRow(study),
        ...trials.map((trial) => table.putting(trialRow(study.name, trial))),
      ]);
      const cachedState = loaded.get(pk(study.name));
      if (saved && cachedState?.study.revision === study.revision - 1) {
        const byNumber = new Map([...cachedState.trials, ...trials].map((trial) => [trial.number, trial]));
        const after = [...byNumber.values()].sort((a, b) => a.number - b.number);
        loaded.set(pk(study.name), { study, trials: after });
      }
      return saved;
    },
  };
}

/** A study is open until it has ended and the run of its best trial exists. */
function isOpenStudy({ status, definition, best, bestRunId, bestFailure }: Study): boolean {
  if (status === "running" || status === "stopping") return true;
  return definition.best !== undefined && best.length > 0 && bestRunId === undefined && bestFailure === undefined;
}

export function createStudyIndex(table: Table): StudyIndex {
  return {
    listOpen: async () =>
      (await table.all(ex`gsi1pk = ${openStudies}`, { index: "gsi1" })).map((item) => ({
        team: item["team"] as string,
        study: item["study"] as string,
      })),
  };
}

export const studyIndex = catalogPort(createStudyIndex, { list: [queryIndex("Catalog", "gsi1")] });

export const studies = teamCatalogPort(createStudyRepository, {
  read: [catalog("GetItem", "Query")],
  list: [queryIndex("Catalog", "gsi1")],
  write: [catalog("PutItem", "DeleteItem")],
});
