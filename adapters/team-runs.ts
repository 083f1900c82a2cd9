import { recordLineage } from "../core/lineage/port";
import { createLiveRuns, noteLiveRuns } from "../core/tracking/records/live-runs";
import { teamRunSteps, teamRuns } from "../core/tracking/records/team-runs";
import { createRunSearches } from "../core/tracking/search/run-search";
import { catalog, queryIndex } from "../platform/permissions/grants";
import { createArtifactRepository } from "./dynamodb/artifact-repository";
import { documents } from "./dynamodb/client";
import { experiments } from "./dynamodb/experiment-repository";
import { runCreations } from "./dynamodb/group-commit";
import { lineage } from "./dynamodb/lineage-repository";
import { metrics } from "./dynamodb/metric-store";
import { createRunRecords } from "./dynamodb/record-repository";
import { runChanges } from "./dynamodb/run-changes";
import { runIdentities } from "./dynamodb/run-identities";
import { createRunRepository } from "./dynamodb/run-repository";
import { allRunSteps } from "./dynamodb/run-steps";
import { catalogTable, Table } from "./dynamodb/table";
import { grantsOf, sharedPort, teamPort } from "./port";

const allRecords = sharedPort({
  uses: {
    table: catalogTable(),
    documents: documents(),
    identities: runIdentities("read"),
    changes: runChanges(),
    creations: runCreations(),
  },
  make: ({ table, documents, ...ports }, { config }) =>
    createRunRecords(table, { ...ports, metrics: new Table(documents, config.tables.metrics) }),
});

/** Runs that this process saw active within the last second. */
export const liveRuns = sharedPort({ make: (_uses, { clock }) => createLiveRuns(clock) });

export const records = teamPort({
  uses: { all: allRecords(), live: liveRuns(), lineage: lineage() },
  grants: {
    read: [catalog("GetItem", "BatchGetItem")],
    list: [catalog("Query"), queryIndex("Catalog", "gsi1")],
    write: [catalog("PutItem", "UpdateItem"), ...lineage("write").grants],
  },
  make: ({ all, live, lineage }, { team }) => recordLineage(noteLiveRuns(all.of(team), live), lineage),
});

export const changes = teamPort({
  uses: { all: runChanges() },
  grants: { read: [...runChanges("read").grants] },
  make: ({ all }, { team }) => all.of(team),
});

export const artifacts = teamPort({
  uses: { table: catalogTable(), records: allRecords() },
  grants: {
    read: [catalog("GetItem", "Query")],
    write: [catalog("PutItem", "DeleteItem", "ConditionCheckItem", "BatchWriteItem")],
    freeze: [catalog("UpdateItem")],
    produce: [catalog("BatchWriteItem")],
  },
  make: ({ table, records }, { team }) => createArtifactRepository(table, team, records.of(team)),
});

const searches = sharedPort({ make: () => createRunSearches() });

export const runSearch = teamPort({
  uses: {
    searches: searches(),
    records: records(),
    changes: changes(),
    metrics: metrics(),
    experiments: experiments(),
  },
  grants: {
    use: grantsOf([records("read", "list"), changes("read"), metrics("read"), experiments("list")]),
  },
  make: ({ searches, ...sources }, { clock, team }) => searches.of(team, { ...sources, clock }),
});

const allRuns = sharedPort({
  uses: { table: catalogTable() },
  make: ({ table }) => createRunRepository(table),
});

export const openRuns = sharedPort({
  uses: { all: allRuns() },
  grants: { list: [queryIndex("Catalog", "gsi1"), catalog("GetItem")], instances: [queryIndex("Catalog", "gsi1")] },
  make: ({ all: { listOpen, findOnInstance } }) => ({ listOpen, findOnInstance }),
});

/** The steps of a team's runs, for functions of the state machine that record an output. */
export const runSteps = teamPort({
  uses: {
    all: allRunSteps(),
    identities: runIdentities("read"),
    changes: runChanges("mark"),
    artifacts: artifacts(),
  },
  grants: {
    use: [catalog("GetItem", "Query", "PutItem", "UpdateItem")],
    /** Steps whose output is an artifact of the run. */
    produce: [...artifacts("produce").grants],
  },
  make: ({ all, ...ports }, { team }) => teamRunSteps(all, team, ports),
});

export const runs = teamPort({
  uses: {
    all: allRuns(),
    identities: runIdentities("read"),
    changes: runChanges("mark"),
    records: allRecords(),
    experiments: experiments(),
    artifacts: artifacts(),
  },
  grants: {
    details: [catalog("Query")],
    steps: [catalog("PutItem", "UpdateItem")],
    produce: [...artifacts("produce").grants],
    create: [catalog("PutItem"), ...experiments("ensure").grants],
    attempts: [catalog("PutItem", "UpdateItem", "ConditionCheckItem")],
    report: [catalog("PutItem", "UpdateItem")],
    end: [catalog("UpdateItem", "DeleteItem")],
    list: [queryIndex("Catalog", "gsi1")],
  },
  make: ({ all, ...ports }, { team }) => teamRuns(all, team, ports),
});
