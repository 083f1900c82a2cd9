import { type Hyperparameters, withoutLaterDefaults } from "./hyperparameters";
import type { Job } from "./job";

/** Returns a job without options whose value is the one that all jobs had before the option existed. */
export function withoutLaterOptions(job: Job): Omit<Job, "hyperparameters"> & {
  readonly hyperparameters: Partial<Hyperparameters>;
} {
  const { tf32, ...resources } = job.resources;
  return {
    ...job,
    hyperparameters: withoutLaterDefaults(job.hyperparameters),
    resources: tf32 === true ? job.resources : resources,
  };
}
