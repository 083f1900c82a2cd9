import { BoundedMap } from "../bounded-map";
import { RunNotFoundError } from "./errors";
import type { Run } from "./run";
import type { AllRuns, RunRepository } from "./run-repository";

export interface TeamRuns {
  /** Returns `undefined` if there is no such run. */
  teamOf(runId: string): Promise<string | undefined>;
  /** Returns a team's port, in which runs of other teams do not exist. */
  of(team: string): RunRepository;
}

/** Maximum number of cached runs. A run's team never changes, so the cache stays valid. */
const remembered = 10_000;

/**
 * Divides the runs of all teams into ports for one team each. Ids are unguessable and globally unique; only a run's row
 * has its team.
 */
export function teamRuns(all: AllRuns): TeamRuns {
  const teams = new BoundedMap<string, string>(remembered);

  function remember({ runId, team }: Run): void {
    teams.set(runId, team);
  }

  async function teamOf(runId: string): Promise<string | undefined> {
    const known = teams.get(runId);
    if (known !== undefined) return known;
    const run = await all.find(runId);
    if (run) remember(run);
    return run?.team;
  }

  function of(team: string): RunRepository {
    const owns = async (runId: string): Promise<boolean> => (await teamOf(runId)) === team;
    const checkOwner = async (runId: string): Promise<void> => {
      if (!(await owns(runId))) throw new RunNotFoundError(runId);
    };
    const own = (run: Run | undefined): Run | undefined => {
      if (run) remember(run);
      return run?.team === team ? run : undefined;
    };

    return {
      async create(run) {
        if (run.team !== team) throw new Error(`run ${run.runId} is of team ${run.team}, not of ${team}`);
        const created = await all.create(run);
        if (!own(created.run)) throw new Error(`the id ${run.runId} is taken by another team's run: submit again`);
        return created;
      },
      find: async (runId) => own(await all.find(runId)),
      async findDetails(runId) {
        const details = await all.findDetails(runId);
        return own(details?.run) && details;
      },
      list: (query) => all.list({ ...query, team }),
      listOpen: async () => (await all.listOpen()).filter((run) => run.team === team),
      enterPhase: async (runId, phase, at) => (await owns(runId)) && all.enterPhase(runId, phase, at),
      async goBack(runId, from, to, at) {
        await checkOwner(runId);
        await all.goBack(runId, from, to, at);
      },
      close: async (runId, conclusion) => (await owns(runId)) && all.close(runId, conclusion),
      async delist(runId) {
        await checkOwner(runId);
        await all.delist(runId);
      },
      async markEndPublished(runId) {
        await checkOwner(runId);
        await all.markEndPublished(runId);
      },
      async recordStep(runId, record) {
        await checkOwner(runId);
        await all.recordStep(runId, record);
      },
      async putTaskToken(runId, phase, token) {
        await checkOwner(runId);
        await all.putTaskToken(runId, phase, token);
      },
      findTaskTokens: async (runId, phase) => ((await owns(runId)) ? all.findTaskTokens(runId, phase) : []),
      beginAttempt: async (runId, attempt) => (await owns(runId)) && all.beginAttempt(runId, attempt),
      takeOverAttempt: async (runId, attempt, claimedAt, at) =>
        (await owns(runId)) && all.takeOverAttempt(runId, attempt, claimedAt, at),
      recordJob: async (runId, attempt, jobId) => (await owns(runId)) && all.recordJob(runId, attempt, jobId),
      completeAttempt: async (runId, attempt, end) =>
        (await owns(runId)) && all.completeAttempt(team, runId, attempt, end),
      monthUsage: (month) => all.monthUsage(team, month),
      async recordWorker(runId, worker) {
        await checkOwner(runId);
        return all.recordWorker(runId, worker);
      },
      async recordMachine(runId, machine) {
        await checkOwner(runId);
        await all.recordMachine(runId, machine);
      },
      recordInterruptionNotice: async (runId, memberId, at) =>
        (await owns(runId)) && all.recordInterruptionNotice(runId, memberId, at),
      async recordRecovery(runId, recovery) {
        await checkOwner(runId);
        return all.recordRecovery(runId, recovery);
      },
      async recordWarning(runId, warning) {
        await checkOwner(runId);
        await all.recordWarning(runId, warning);
      },
      async recordProgress(runId, progress) {
        await checkOwner(runId);
        await all.recordProgress(runId, progress);
      },
    };
  }

  return { teamOf, of };
}
