import type { Person } from "../access/principals";
import { inRounds, type Pause } from "../backoff";
import { type DatasetRepository, parseDatasetReference, resolveDataset } from "../datasets/repository";
import { digestOf } from "../digest";
import { conflict, contended, InvalidInputError, notFound } from "../errors";
import { readPlan } from "../pipelines/context";
import { type PipelineRepository, pipelineNotFound } from "../pipelines/ports";
import { type Clock, isoTime, type ObjectStore } from "../ports";
import { checkJobAgainst, type DeploymentSettings, deploymentProblems } from "../training/job-checks";
import type { TriggerRepository, TriggerSchedules } from "./ports";
import type { Trigger, TriggerDefinition, TriggerState } from "./trigger";

export const triggerNotFound = (name: string) =>
  notFound("TRIGGER_NOT_FOUND", `there is no trigger ${JSON.stringify(name)}`, { trigger: name });

const triggerExists = (name: string) =>
  conflict("TRIGGER_EXISTS", `trigger ${name} already exists with other settings; choose another name`, {
    trigger: name,
  });

export const triggerBusy = (name: string) => contended("TRIGGER_BUSY", `trigger ${name}`, { trigger: name });

export interface TriggerDependencies {
  readonly pipelines: Pick<PipelineRepository, "findVersion">;
  readonly objects: Pick<ObjectStore, "getContent">;
  readonly config?: DeploymentSettings;
  readonly team: string;
  readonly triggers: TriggerRepository;
  readonly schedules: TriggerSchedules;
  readonly datasets: DatasetRepository;
  readonly clock: Clock;
  readonly pause: Pause;
  readonly randomBytes: (count: number) => Uint8Array;
}

const rounds = 20;

const retry = ({ pause }: Pick<TriggerDependencies, "pause">, name: string) => ({
  rounds,
  pause,
  busy: () => triggerBusy(name),
});

type Author = { readonly by: string; readonly person?: Person };

/**
 * Creates a trigger. Idempotent for the same definition; another definition under the same name is refused.
 * @returns also the secret of a webhook, which is not returned again
 * @throws InvalidInputError if the job does not fit the dataset's newest version, DATASET_NOT_FOUND, TRIGGER_EXISTS
 */
export async function createTrigger(
  dependencies: TriggerDependencies,
  definition: TriggerDefinition,
  { by: actor, person }: Author,
): Promise<{ readonly created: boolean; readonly trigger: Trigger; readonly secret?: string }> {
  const { triggers, clock, team, randomBytes } = dependencies;
  return inRounds(retry(dependencies, definition.name), async () => {
    const state = await triggers.find(definition.name);
    if (state && state.trigger.deletedAt === undefined) {
      if (digestOf(definitionOf(state.trigger)) !== digestOf(definitionOf(definition)))
        throw triggerExists(definition.name);
      await syncSchedule(dependencies, definition.name);
      return { created: false, trigger: state.trigger };
    }
    await assertJobFits(dependencies, definition);
    const at = isoTime(clock);
    const trigger: Trigger = {
      ...definition,
      team,
      revision: (state?.trigger.revision ?? 0) + 1,
      since: at,
      createdBy: actor,
      ...(person ? { authors: [person.id] } : {}),
      createdAt: at,
      updatedAt: at,
    };
    const secret = trigger.on.type === "webhook" ? Buffer.from(randomBytes(32)).toString("hex") : undefined;
    if (!(await triggers.save(trigger, state?.trigger, secret))) return undefined;
    await syncSchedule(dependencies, trigger.name);
    return { created: true, trigger, ...(secret === undefined ? {} : { secret }) };
  });
}

/** Replaces the definition, except for `enabled`. */
export async function updateTrigger(
  dependencies: TriggerDependencies,
  definition: TriggerDefinition,
  { by: actor, person }: Author,
): Promise<Trigger> {
  await assertJobFits(dependencies, definition);
  return change(dependencies, definition.name, actor, (trigger, at) => {
    if (definition.on.type === "webhook" && trigger.on.type !== "webhook") {
      const rule = `must stay ${trigger.on.type}: a secret is created with a trigger only; create another one`;
      throw new InvalidInputError("the trigger", [{ path: "on.type", value: "webhook", rule }]);
    }
    if (digestOf(definitionOf(trigger)) === digestOf(definitionOf(definition))) return trigger;
    const sameSource = digestOf(trigger.on) === digestOf(definition.on);
    return {
      ...trigger,
      ...definition,
      enabled: trigger.enabled,
      authors: person && trigger.authors && [...new Set([...trigger.authors, person.id])],
      since: sameSource ? trigger.since : at,
    };
  });
}

/** A disabled trigger skips its causes. One that is enabled again starts with causes after that time. */
export async function setEnabled(
  dependencies: TriggerDependencies,
  name: string,
  enabled: boolean,
  actor: string,
  reason?: string,
): Promise<Trigger> {
  return change(dependencies, name, actor, ({ pausedReason, ...trigger }, at) => {
    if (trigger.enabled === enabled && pausedReason === reason)
      return { ...trigger, ...(pausedReason === undefined ? {} : { pausedReason }) };
    return enabled
      ? { ...trigger, enabled, since: trigger.enabled ? trigger.since : at }
      : { ...trigger, enabled, ...(reason ? { pausedReason: reason } : {}) };
  });
}

export async function deleteTrigger(dependencies: TriggerDependencies, name: string, actor: string): Promise<Trigger> {
  return change(dependencies, name, actor, (trigger, at) => ({ ...trigger, enabled: false, deletedAt: at }), true);
}

export async function getTrigger(triggers: TriggerRepository, name: string): Promise<TriggerState> {
  const state = await triggers.find(name);
  if (!state) throw triggerNotFound(name);
  return state;
}

async function change(
  dependencies: TriggerDependencies,
  name: string,
  actor: string,
  next: (trigger: Trigger, at: string) => Trigger,
  deletedIsFine = false,
): Promise<Trigger> {
  const { triggers, clock } = dependencies;
  return inRounds(retry(dependencies, name), async () => {
    const { trigger } = await getTrigger(triggers, name);
    if (trigger.deletedAt !== undefined) {
      if (!deletedIsFine) throw triggerNotFound(name);
      await syncSchedule(dependencies, name);
      return trigger;
    }
    const at = isoTime(clock);
    const wanted = next(trigger, at);
    const same = digestOf(wanted) === digestOf(trigger);
    const saved: Trigger = same
      ? trigger
      : { ...wanted, revision: trigger.revision + 1, updatedAt: at, updatedBy: actor };
    if (!same && !(await triggers.save(saved, trigger))) return undefined;
    await syncSchedule(dependencies, name);
    return saved;
  });
}

/**
 * Makes the Scheduler match the trigger's row. A revision counts as scheduled only if it is still the row's revision after
 * its schedule was written. A caller that finds that it wrote an old revision writes the new one over it, even if
 * another caller already did.
 */
export async function syncSchedule(
  { triggers, schedules, team, pause }: Pick<TriggerDependencies, "triggers" | "schedules" | "team" | "pause">,
  name: string,
): Promise<void> {
  await inRounds(retry({ pause }, name), async (round) => {
    const state = await triggers.find(name);
    if (!state || (round === 0 && state.scheduledRevision === state.trigger.revision)) return true;
    const { trigger } = state;
    if (trigger.on.type === "schedule" && trigger.deletedAt === undefined) await schedules.put(trigger);
    else if (hadSchedule(state)) await schedules.delete(team, name);
    return (await triggers.markScheduled(name, trigger.revision)) || undefined;
  });
}

/** Whether the Scheduler may have its schedule. The first revision with another trigger never had one. */
function hadSchedule({ trigger }: TriggerState): boolean {
  return trigger.on.type === "schedule" || trigger.revision > 1;
}

async function assertJobFits(
  { datasets, config, pipelines, objects }: TriggerDependencies,
  { start }: TriggerDefinition,
): Promise<void> {
  const { job, pipeline = "" } = start;
  if (job === undefined) {
    const version = await pipelines.findVersion(pipeline);
    if (!version) throw pipelineNotFound(pipeline);
    const { parameters } = await readPlan(objects, version);
    const unknown = Object.keys(start.parameters).filter((each) => !Object.hasOwn(parameters, each));
    const rule = `must be a parameter of ${pipeline}: ${Object.keys(parameters).join(", ") || "it has none"}`;
    if (unknown.length > 0)
      throw new InvalidInputError(
        "the trigger",
        unknown.map((each) => ({ path: `start.parameters.${each}`, rule })),
      );
    return;
  }
  const { name } = parseDatasetReference(job.dataset);
  const { manifest } = await resolveDataset(datasets, name);
  const jobProblems = [...checkJobAgainst(manifest, job), ...deploymentProblems(job, config)];
  const problems = jobProblems.map((problem) => ({ ...problem, path: `start.job.${problem.path}` }));
  if (problems.length > 0) throw new InvalidInputError("the trigger's job does not fit its dataset", problems);
}

/** Returns the definition without `enabled`, which has its own operations. */
function definitionOf({
  name,
  on,
  start,
  concurrency,
  catchUp,
  cooldownMinutes,
}: TriggerDefinition): Omit<TriggerDefinition, "enabled"> {
  return { name, on, start, concurrency, catchUp, cooldownMinutes };
}
