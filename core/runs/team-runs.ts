import { BoundedMap } from "../bounded-map";
import { runNotFound } from "./errors";
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

/** Creates the lookup of teams, with a cache in the process. */
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

type Operation<Rest extends unknown[], Result> = (runId: string, ...rest: Rest) => Promise<Result>;

/** Narrows the port to one team: another team's run does not exist, whatever the operation. */
function ownedBy(team: string, { teamOf, remember }: RunTeams) {
  const owns = async (runId: string): Promise<boolean> => (await teamOf(runId)) === team;
  return {
    owns,
    own(run: Run | undefined): Run | undefined {
      if (run) remember(run);
      return run?.team === team ? run : undefined;
    },
    /** Wraps an operation, which throws RUN_NOT_FOUND for another team's run. */
    checked<Rest extends unknown[], Result>(operation: Operation<Rest, Result>): Operation<Rest, Result> {
      return async (runId, ...rest) => {
        if (!(await owns(runId))) throw runNotFound(runId);
        return operation(runId, ...rest);
      };
    },
    /** Wraps an operation, which returns false for another team's run. */
    ifOwned<Rest extends unknown[]>(operation: Operation<Rest, boolean>): Operation<Rest, boolean> {
      return async (runId, ...rest) => (await owns(runId)) && operation(runId, ...rest);
    },
  };
}

/** Narrows the phases of runs to a team's. */
export function teamRunPhases(all: RunPhases, team: string, teams: RunTeams): RunPhases {
  const { owns, own, checked, ifOwned } = ownedBy(team, teams);
  return {
    find: async (runId) => own(await all.find(runId)),
    async findDetails(runId) {
      const details = await all.findDetails(runId);
      return own(details?.run) && details;
    },
    enterPhase: ifOwned((...given) => all.enterPhase(...given)),
    goBack: checked((...given) => all.goBack(...given)),
    putTaskToken: checked((...given) => all.putTaskToken(...given)),
    findTaskTokens: async (runId, phase) => ((await owns(runId)) ? all.findTaskTokens(runId, phase) : []),
  };
}

/** Narrows the steps of runs to a team's. */
export function teamRunSteps(all: RunSteps, team: string, teams: RunTeams): RunSteps {
  const { checked } = ownedBy(team, teams);
  return {
    ...teamRunPhases(all, team, teams),
    recordStep: checked((...given) => all.recordStep(...given)),
  };
}

/** Narrows runs to a team's. */
export function teamRuns(all: AllRuns, team: string, teams: RunTeams): RunRepository {
  const { owns, own, checked, ifOwned } = ownedBy(team, teams);
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
    pause: ifOwned((...given) => all.pause(...given)),
    resume: ifOwned((...given) => all.resume(...given)),
    close: ifOwned((...given) => all.close(...given)),
    delist: checked((...given) => all.delist(...given)),
    markEndPublished: checked((...given) => all.markEndPublished(...given)),
    beginAttempt: ifOwned((...given) => all.beginAttempt(...given)),
    takeOverAttempt: ifOwned((...given) => all.takeOverAttempt(...given)),
    recordJob: ifOwned((...given) => all.recordJob(...given)),
    completeAttempt: async (runId, attempt, end) =>
      (await owns(runId)) && all.completeAttempt(team, runId, attempt, end),
    monthUsage: (month) => all.monthUsage(team, month),
    leaveQueue: checked((...given) => all.leaveQueue(...given)),
    recordWorker: checked((...given) => all.recordWorker(...given)),
    recordMachine: checked((...given) => all.recordMachine(...given)),
    recordInterruptionNotice: ifOwned((...given) => all.recordInterruptionNotice(...given)),
    recordRecovery: checked((...given) => all.recordRecovery(...given)),
    recordWarning: checked((...given) => all.recordWarning(...given)),
    recordProgress: checked((...given) => all.recordProgress(...given)),
  };
}
