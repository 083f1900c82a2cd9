import { digestOf } from "../digest";
import { InvalidInputError } from "../errors";
import { problemsOf } from "../problems";
import { type Job, jobSchema } from "../runs/job";
import type { Point } from "./space";
import type { StudyDefinition } from "./study";
import { withSetting } from "./study-problems";

type JobOfStudy = Pick<StudyDefinition, "job">;

/**
 * Returns the job of a trial: that of the study with the trial's values, without registration.
 *
 * @throws InvalidInputError if the values together break a rule of the job
 */
export function trialJob({ job }: JobOfStudy, params: Point): Job {
  return jobWith({ ...job, registerAs: undefined }, params);
}

/** Returns the job that trains the best trial's settings on all epochs and registers the model. */
export function bestJob({ job, best }: JobOfStudy & Pick<StudyDefinition, "best">, params: Point): Job {
  return jobWith({ ...job, registerAs: best?.registerAs }, params);
}

function jobWith(job: Job, params: Point): Job {
  const written = { ...job, hyperparameters: withoutDefaults(job, params) };
  const changed = Object.entries(params).reduce<unknown>(
    (one, [path, value]) => withSetting(one, path, value),
    written,
  );
  const parsed = jobSchema.safeParse(changed, { reportInput: true });
  if (!parsed.success)
    throw new InvalidInputError("the trial's settings are not a valid job", problemsOf(parsed.error));
  return parsed.data;
}

/**
 * Returns a job's hyperparameters without those that follow from others. A stored job has all defaults, among them
 * those that another optimizer or schedule does not take: `beta1` of adam, where a trial chooses momentum.
 */
function withoutDefaults({ hyperparameters }: Job, params: Point): Record<string, unknown> {
  const changed = Object.keys(params).filter((path) => path.startsWith("hyperparameters."));
  const kept: Record<string, unknown> = { ...hyperparameters };
  if (changed.length === 0) return kept;
  const schema = jobSchema.shape.hyperparameters;
  const digest = digestOf(schema.parse(kept));
  for (const key of Object.keys(hyperparameters)) {
    const { [key]: _, ...others } = kept;
    const parsed = schema.safeParse(others);
    if (parsed.success && digestOf(parsed.data) === digest) delete kept[key];
  }
  return kept;
}
