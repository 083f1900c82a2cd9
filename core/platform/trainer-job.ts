/** The trainer's Batch job definition, as far as `infra/` and `local/` must agree on it. */
export const trainerJob = {
  /** Batch's own attempts absorb spot losses; ten is its limit. */
  attempts: 10,
  /**
   * First match wins, and Batch retries when none matches: hence the last rule. A reclaimed host reads `Host EC2*`; 75 is the trainer's "start
   * me again" (`trainerExitCodes.retry`); 137 is SIGKILL from outside.
   */
  evaluateOnExit: [
    { onStatusReason: "Host EC2*", action: "RETRY" },
    { onExitCode: "75", action: "RETRY" },
    { onExitCode: "137", action: "RETRY" },
    { onReason: "*", action: "EXIT" },
  ],
  /** A run that trains longer than this is stopped, in seconds. */
  timeoutSeconds: 2_419_200,
} as const;

/** Names of what has one name in an account, from the platform's prefix. */
export const resourceNames = (prefix: string) => ({
  stateMachine: `${prefix}-training-run`,
  jobQueueSpot: `${prefix}-spot`,
  jobQueueOnDemand: `${prefix}-on-demand`,
  computeSpot: `${prefix}-compute-spot`,
  computeOnDemand: `${prefix}-compute-on-demand`,
  jobDefinition: `${prefix}-trainer`,
  jobDefinitionGang: `${prefix}-trainer-gang`,
});
