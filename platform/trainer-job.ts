/** The trainer's Batch job definition, as far as `infra/` and `local/` must agree on it. */
export const trainerJob = {
  /** Batch's own attempts absorb spot losses; ten is its limit. */
  attempts: 10,
  /**
   * First match wins, and Batch retries when none matches: hence the last rule. A reclaimed host reads `Host EC2*`; 75 is the trainer's "start
   * me again" (`trainerExitCodes.retry`); 137 is SIGKILL from outside, unless it was for want of memory, of which there will be no more next
   * time. Five rules are Batch's limit.
   */
  evaluateOnExit: [
    { onStatusReason: "Host EC2*", action: "RETRY" },
    { onReason: "OutOfMemoryError*", action: "EXIT" },
    { onExitCode: "75", action: "RETRY" },
    { onExitCode: "137", action: "RETRY" },
    { onReason: "*", action: "EXIT" },
  ],
  /** A run that trains longer than this is stopped, in seconds. */
  timeoutSeconds: 2_419_200,
  /** How long what a team used counts when its fair share is worked out: a day's heavy user yields to the others the next. */
  shareDecaySeconds: 86_400,
} as const;

/** The queues that jobs are submitted to. */
export function jobQueueNames(prefix: string): readonly string[] {
  const { jobQueueSpot, jobQueueSpotGpu, jobQueueOnDemand, jobQueueOnDemandGpu } = resourceNames(prefix);
  return [jobQueueSpot, jobQueueSpotGpu, jobQueueOnDemand, jobQueueOnDemandGpu];
}

/** Names of what has one name in an account, from the platform's prefix. */
export const resourceNames = (prefix: string) => ({
  stateMachine: `${prefix}-training-run`,
  /** A queue a market and kind of machine: a queue over both kinds would send the work of a full one to the other, where it computes differently. */
  jobQueueSpot: `${prefix}-spot`,
  jobQueueSpotGpu: `${prefix}-spot-gpu`,
  jobQueueOnDemand: `${prefix}-on-demand`,
  jobQueueOnDemandGpu: `${prefix}-on-demand-gpu`,
  schedulingPolicy: `${prefix}-teams`,
  jobDefinition: `${prefix}-trainer`,
  jobDefinitionGang: `${prefix}-trainer-gang`,
  /** Of trainers. Not Batch's own `/aws/batch/job`: that one is every platform's in the account, and is kept for ever. */
  jobLogGroup: `/aws/batch/${prefix}-trainer`,
});
