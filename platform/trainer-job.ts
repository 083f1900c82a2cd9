/** The parts of the trainer's Batch job definition that `infra/` and `local/` share. */
export const trainerJob = {
  /** Batch's own attempts absorb spot losses; ten is its limit. */
  attempts: 10,
  /**
   * The first match applies, and Batch retries if none matches. A host that goes away may leave any exit code, so its
   * rule is first. The container's memory limit ends with 137 too, so its rule is before that of a SIGKILL from outside.
   * Batch retries only two of the codes that begin with 1: the signals from outside (137, 143). The others would happen
   * again: a recorded failure (1), errors of Node.js at the start (10 to 14), a command that cannot be executed or is
   * not found (126, 127), an abort such as V8's heap limit (134), a segmentation fault (139). All else is retried:
   * images and volumes that are not ready, lost agents, and the trainer's request to be restarted (75,
   * `trainerExitCodes.retry`). Five rules are Batch's limit. Tested with a table of Batch's reasons.
   */
  evaluateOnExit: [
    { onStatusReason: "Host EC2*", action: "RETRY" },
    { onReason: "OutOfMemoryError*", action: "EXIT" },
    { onExitCode: "137", action: "RETRY" },
    { onExitCode: "143", action: "RETRY" },
    { onExitCode: "1*", action: "EXIT" },
  ],
  /** Time limit of a run's training, in seconds. */
  timeoutSeconds: 2_419_200,
  /**
   * Time over which a team's usage counts for its fair share, so that a heavy user yields to others on the next day.
   */
  shareDecaySeconds: 86_400,
} as const;

export function jobQueueNames(prefix: string): readonly string[] {
  return Object.values(jobQueuesOf(prefix));
}

/**
 * Returns the queues by their use: one for each market, placement and kind of machine. A queue over both kinds would
 * move work to the other kind, which computes differently.
 */
export const jobQueuesOf = (prefix: string) => ({
  spot: `${prefix}-spot`,
  spotGpu: `${prefix}-spot-gpu`,
  onDemand: `${prefix}-on-demand`,
  onDemandGpu: `${prefix}-on-demand-gpu`,
  cluster: `${prefix}-cluster`,
  clusterGpu: `${prefix}-cluster-gpu`,
});

/**
 * Returns the queue of a GPU class, from the queue of GPU jobs. The first class of the deployment has that queue, and
 * the others have queues of their own: all GPUs of a gang must be the same model.
 * @param classes GPU classes of the deployment. None: there is one queue for all (the embedded cloud)
 */
export function gpuQueueOf(queue: string, gpuClass: string | undefined, classes: readonly string[]): string {
  if (gpuClass === undefined || classes.length === 0 || gpuClass === classes[0]) return queue;
  return `${queue}-${gpuClass.toLowerCase()}`;
}

/** Returns the beginnings of the names of queues for further GPU classes. */
export function gpuQueuePrefixes(prefix: string): readonly string[] {
  const { spotGpu, onDemandGpu, clusterGpu } = jobQueuesOf(prefix);
  return [spotGpu, onDemandGpu, clusterGpu].map((queue) => `${queue}-`);
}

export const resourceNames = (prefix: string) => ({
  stateMachine: `${prefix}-training-run`,
  schedulingPolicy: `${prefix}-teams`,
  jobDefinition: `${prefix}-trainer`,
  jobDefinitionGang: `${prefix}-trainer-gang`,
  /** Log group of the trainers. Batch's own `/aws/batch/job` is shared with other platforms and has no expiry. */
  jobLogGroup: `/aws/batch/${prefix}-trainer`,
  /** Log group of the trainers' instances: the ECS agent's log, and messages of the GPU driver. */
  hostLogGroup: `/aws/batch/${prefix}-hosts`,
});
