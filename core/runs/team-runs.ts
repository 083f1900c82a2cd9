import { BoundedMap } from "../bounded-map";
import { RunNotFoundError } from "./errors";
import type { AllRuns, RunPhases, RunRepository, RunSteps } from "./run-repository";
import type { Run } from "./shapes";

/** Finds the teams of training runs. A run's id does not name its team; its row does. */
export interface RunTeams {
  /** `undefined` where there is no such run. */
  teamOf(runId: string): Promise<string | undefined>;
  remember(run: Run): void;
}

/** More than a function meets while it is warm. A run's team never changes, so a remembered one stays true. */
const maxRemembered = 10_000;

export function createRunTeams(find: RunSteps["find"]): RunTeams {
  const teams = new BoundedMap<string, string>(maxRemembered);
  const remember = ({ runId, team }: Run): void => void teams.set(runId, team);
  return {
    remember,
    async teamOf(runId) {
      const known = teams.get(runId);
      if (known !== undefined) return known;
      const run = await find(runId);
      if (run) remember(run);
      return run?.team;
    },
  };
}

/** Narrows the port to one team: another team's run does not exist, whatever the operation. */
function ownedBy(team: string, { teamOf, remember }: RunTeams) {
  const owns = async (runId: string): Promise<boolean> => (await teamOf(runId)) === team;
  return {
    owns,
    async checkOwner(runId: string): Promise<void> {
      if (!(await owns(runId))) throw new RunNotFoundError(runId);
    },
    own(run: Run | undefined): Run | undefined {
      if (run) remember(run);
      return run?.team === team ? run : undefined;
    },
  };
}

/** Narrows the phases of runs to a team's. */
export function teamRunPhases(all: RunPhases, team: string, teams: RunTeams): RunPhases {
  const { owns, checkOwner, own } = ownedBy(team, teams);
  return {
    find: async (runId) => own(await all.find(runId)),
    async findDetails(runId) {
      const details = await all.findDetails(runId);
      return own(details?.run) && details;
    },
    enterPhase: async (runId, phase, at) => (await owns(runId)) && all.enterPhase(runId, phase, at),
    async goBack(runId, from, to, at) {
      await checkOwner(runId);
      await all.goBack(runId, from, to, at);
    },
    async putTaskToken(runId, phase, token) {
      await checkOwner(runId);
      await all.putTaskToken(runId, phase, token);
    },
    findTaskTokens: async (runId, phase) => ((await owns(runId)) ? all.findTaskTokens(runId, phase) : []),
  };
}

/** Narrows the steps of runs to a team's. */
export function teamRunSteps(all: RunSteps, team: string, teams: RunTeams): RunSteps {
  const { checkOwner } = ownedBy(team, teams);
  return {
    ...teamRunPhases(all, team, teams),
    async recordStep(runId, record) {
      await checkOwner(runId);
      await all.recordStep(runId, record);
    },
  };
}

/** Narrows runs to a team's. */
export function teamRuns(all: AllRuns, team: string, teams: RunTeams): RunRepository {
  const { owns, checkOwner, own } = ownedBy(team, teams);
  return {
    ...teamRunSteps(all, team, teams),
    async create(run) {
      if (run.team !== team) throw new Error(`run ${run.runId} is of team ${run.team}, not of ${team}`);
      const created = await all.create(run);
      if (!own(created.run)) throw new Error(`the id ${run.runId} is taken by another team's run: submit again`);
      return created;
    },
    list: (query) => all.list({ ...query, team }),
    listOpen: async () => (await all.listOpen()).filter((run) => run.team === team),
    pause: async (runId, pause) => (await owns(runId)) && all.pause(runId, pause),
    resume: async (runId, resumption) => (await owns(runId)) && all.resume(runId, resumption),
    close: async (runId, conclusion) => (await owns(runId)) && all.close(runId, conclusion),
    async delist(runId) {
      await checkOwner(runId);
      await all.delist(runId);
    },
    async markEndPublished(runId) {
      await checkOwner(runId);
      await all.markEndPublished(runId);
    },
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
