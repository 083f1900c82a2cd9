import type { Person } from "../access/principals";
import { inRounds, type Pause } from "../backoff";
import { type DatasetRepository, parseDatasetReference, resolveDataset } from "../datasets/repository";
import { digestOf } from "../digest";
import { conflict, contended, InvalidInputError, notFound } from "../errors";
import { type Clock, isoTime } from "../ports";
import { checkJobAgainst, type DeploymentSettings, deploymentProblems } from "../training/job-checks";
import type { RetrainingRepository, RetrainingSchedules } from "./ports";
import type { RetrainingRule, RuleDefinition, RuleState } from "./rule";

export const ruleNotFound = (name: string) =>
  notFound("RETRAINING_RULE_NOT_FOUND", `there is no retraining rule ${JSON.stringify(name)}`, { rule: name });

const ruleExists = (name: string) =>
  conflict(
    "RETRAINING_RULE_EXISTS",
    `retraining rule ${name} already exists with other settings; choose another name`,
    { rule: name },
  );

export const ruleBusy = (name: string) => contended("RETRAINING_RULE_BUSY", `retraining rule ${name}`, { rule: name });

export interface RuleDependencies {
  readonly config?: DeploymentSettings;
  readonly team: string;
  readonly retraining: RetrainingRepository;
  readonly schedules: RetrainingSchedules;
  readonly datasets: DatasetRepository;
  readonly clock: Clock;
  readonly pause: Pause;
}

const rounds = 20;

const retry = ({ pause }: Pick<RuleDependencies, "pause">, name: string) => ({
  rounds,
  pause,
  busy: () => ruleBusy(name),
});

type Author = { readonly by: string; readonly person?: Person };

/**
 * Creates a rule. Idempotent for the same definition; another definition under the same name is refused.
 *
 * @throws InvalidInputError if the job does not fit the dataset's newest version, DATASET_NOT_FOUND, RETRAINING_RULE_EXISTS
 */
export async function createRule(
  dependencies: RuleDependencies,
  definition: RuleDefinition,
  { by: actor, person }: Author,
): Promise<{ readonly created: boolean; readonly rule: RetrainingRule }> {
  const { retraining, clock, team } = dependencies;
  return inRounds(retry(dependencies, definition.name), async () => {
    const state = await retraining.find(definition.name);
    if (state && state.rule.deletedAt === undefined) {
      if (digestOf(definitionOf(state.rule)) !== digestOf(definition)) throw ruleExists(definition.name);
      await syncSchedule(dependencies, definition.name);
      return { created: false, rule: state.rule };
    }
    await assertJobFits(dependencies, definition);
    const at = isoTime(clock);
    const rule: RetrainingRule = {
      ...definition,
      team,
      revision: (state?.rule.revision ?? 0) + 1,
      enabled: true,
      since: at,
      createdBy: actor,
      ...(person ? { authors: [person.id] } : {}),
      createdAt: at,
      updatedAt: at,
    };
    if (!(await retraining.save(rule, state?.rule))) return undefined;
    await syncSchedule(dependencies, rule.name);
    return { created: true, rule };
  });
}

export async function updateRule(
  dependencies: RuleDependencies,
  definition: RuleDefinition,
  { by: actor, person }: Author,
): Promise<RetrainingRule> {
  await assertJobFits(dependencies, definition);
  return change(dependencies, definition.name, actor, (rule, at) =>
    digestOf(definitionOf(rule)) === digestOf(definition)
      ? rule
      : {
          ...rule,
          ...definition,
          authors: person && rule.authors && [...new Set([...rule.authors, person.id])],
          since: digestOf(rule.trigger) === digestOf(definition.trigger) ? rule.since : at,
        },
  );
}

/** A disabled rule skips its causes. One that is enabled again starts with causes after that time. */
export async function setEnabled(
  dependencies: RuleDependencies,
  name: string,
  enabled: boolean,
  actor: string,
  reason?: string,
): Promise<RetrainingRule> {
  return change(dependencies, name, actor, ({ pausedReason, ...rule }, at) => {
    if (rule.enabled === enabled && pausedReason === reason)
      return { ...rule, ...(pausedReason === undefined ? {} : { pausedReason }) };
    return enabled
      ? { ...rule, enabled, since: rule.enabled ? rule.since : at }
      : { ...rule, enabled, ...(reason ? { pausedReason: reason } : {}) };
  });
}

export async function deleteRule(dependencies: RuleDependencies, name: string, actor: string): Promise<RetrainingRule> {
  return change(dependencies, name, actor, (rule, at) => ({ ...rule, enabled: false, deletedAt: at }), true);
}

export async function getRule(retraining: RetrainingRepository, name: string): Promise<RuleState> {
  const state = await retraining.find(name);
  if (!state) throw ruleNotFound(name);
  return state;
}

async function change(
  dependencies: RuleDependencies,
  name: string,
  actor: string,
  next: (rule: RetrainingRule, at: string) => RetrainingRule,
  deletedIsFine = false,
): Promise<RetrainingRule> {
  const { retraining, clock } = dependencies;
  return inRounds(retry(dependencies, name), async () => {
    const { rule } = await getRule(retraining, name);
    if (rule.deletedAt !== undefined) {
      if (!deletedIsFine) throw ruleNotFound(name);
      await syncSchedule(dependencies, name);
      return rule;
    }
    const at = isoTime(clock);
    const wanted = next(rule, at);
    const same = digestOf(wanted) === digestOf(rule);
    const saved: RetrainingRule = same
      ? rule
      : { ...wanted, revision: rule.revision + 1, updatedAt: at, updatedBy: actor };
    if (!same && !(await retraining.save(saved, rule))) return undefined;
    await syncSchedule(dependencies, name);
    return saved;
  });
}

/**
 * Makes the Scheduler match the rule's row. A revision counts as scheduled only if it is still the row's revision after
 * its schedule was written. A caller that finds that it wrote an old revision writes the new one over it, even if
 * another caller already did.
 */
export async function syncSchedule(
  { retraining, schedules, team, pause }: Pick<RuleDependencies, "retraining" | "schedules" | "team" | "pause">,
  name: string,
): Promise<void> {
  await inRounds(retry({ pause }, name), async (round) => {
    const state = await retraining.find(name);
    if (!state || (round === 0 && state.scheduledRevision === state.rule.revision)) return true;
    const { rule } = state;
    if (rule.trigger.type === "schedule" && rule.deletedAt === undefined) await schedules.put(rule);
    else if (hadSchedule(state)) await schedules.delete(team, name);
    return (await retraining.markScheduled(name, rule.revision)) || undefined;
  });
}

/** Whether the Scheduler may have its schedule. The first revision with another trigger never had one. */
function hadSchedule({ rule }: RuleState): boolean {
  return rule.trigger.type === "schedule" || rule.revision > 1;
}

async function assertJobFits({ datasets, config }: RuleDependencies, { job }: RuleDefinition): Promise<void> {
  const { name } = parseDatasetReference(job.dataset);
  const { manifest } = await resolveDataset(datasets, name);
  const jobProblems = [...checkJobAgainst(manifest, job), ...deploymentProblems(job, config)];
  const problems = jobProblems.map((problem) => ({ ...problem, path: `job.${problem.path}` }));
  if (problems.length > 0) throw new InvalidInputError("the rule's job does not fit its dataset", problems);
}

function definitionOf({
  name,
  trigger,
  job,
  code,
  cooldownMinutes,
  maxConcurrentRuns,
}: RetrainingRule): RuleDefinition {
  return {
    name,
    trigger,
    job,
    code,
    cooldownMinutes,
    ...(maxConcurrentRuns === undefined ? {} : { maxConcurrentRuns }),
  };
}
