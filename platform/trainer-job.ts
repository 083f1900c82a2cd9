/** The parts of the trainer's Batch job definition that `infra/` and `local/` share. */
export const trainerJob = {
  /** Batch's own attempts absorb spot losses; ten is its limit. */
  attempts: 10,
  /**
   * The first match applies, and Batch retries if none matches; hence the last rule. A reclaimed host has the reason
   * `Host EC2*`. 75 is the trainer's request to be restarted (`trainerExitCodes.retry`). 137 is SIGKILL from outside,
   * unless the container ran out of memory, which would happen again. Five rules are Batch's limit.
   */
  evaluateOnExit: [
    { onStatusReason: "Host EC2*", action: "RETRY" },
    { onReason: "OutOfMemoryError*", action: "EXIT" },
    { onExitCode: "75", action: "RETRY" },
    { onExitCode: "137", action: "RETRY" },
    { onReason: "*", action: "EXIT" },
  ],
  /** Time limit of a run's training, in seconds. */
  timeoutSeconds: 2_419_200,
  /**
   * Time over which a team's usage counts for its fair share, so that a heavy user yields to others on the next day.
   */
  shareDecaySeconds: 86_400,
} as const;

/** Returns the queues to which jobs are submitted. */
export function jobQueueNames(prefix: string): readonly string[] {
  const { jobQueueSpot, jobQueueSpotGpu, jobQueueOnDemand, jobQueueOnDemandGpu } = resourceNames(prefix);
  return [jobQueueSpot, jobQueueSpotGpu, jobQueueOnDemand, jobQueueOnDemandGpu];
}

/** Returns the names of resources that are unique in an account, from the platform's prefix. */
export const resourceNames = (prefix: string) => ({
  stateMachine: `${prefix}-training-run`,
  /**
   * One queue for each market and kind of machine. A queue over both kinds would move work to the other kind, which
   * computes differently.
   */
  jobQueueSpot: `${prefix}-spot`,
  jobQueueSpotGpu: `${prefix}-spot-gpu`,
  jobQueueOnDemand: `${prefix}-on-demand`,
  jobQueueOnDemandGpu: `${prefix}-on-demand-gpu`,
  schedulingPolicy: `${prefix}-teams`,
  jobDefinition: `${prefix}-trainer`,
  jobDefinitionGang: `${prefix}-trainer-gang`,
  /**
   * Log group of the trainers. Batch's own `/aws/batch/job` is shared by all platforms of the account and has no
   * expiry.
   */
  jobLogGroup: `/aws/batch/${prefix}-trainer`,
});
