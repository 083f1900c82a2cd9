/** A change of a model or a version; `detail` is a history entry with `platform`, `team` and `model`. */
export const modelChanged = { Source: "ringmaster", DetailType: "Model Version Changed" } as const;
/** Event of a training run's end; `detail` is `RunEnded` of `core/training/run-ended.ts` with `platform`. */
export const runEnded = { Source: "ringmaster", DetailType: "Training Run Ended" } as const;
/** Event of a training run's pause; `detail` is `RunPaused` of `core/training/run-ended.ts` with `platform`. */
export const runPaused = { Source: "ringmaster", DetailType: "Training Run Paused" } as const;
/** Event of a study's creation or change; `detail` is `StudyChanged` of `core/tuning/ports.ts` with `platform`. */
export const studyChanged = { Source: "ringmaster", DetailType: "Study Changed" } as const;
/** Event of a pipeline run's end; `detail` is `PipelineEnded` of `core/pipelines/ports.ts` with `platform`. */
export const pipelineEnded = { Source: "ringmaster", DetailType: "Pipeline Run Ended" } as const;
/** Event of drift in a window; `detail` is `DriftEvent` of `core/monitors/ports.ts` with `platform`. */
export const driftDetected = { Source: "ringmaster", DetailType: "Drift Detected" } as const;
/** Event of a monitor that may have a window to close; `detail` is `MonitorDue` with `platform`. */
export const monitorDue = { Source: "ringmaster", DetailType: "Monitor Due" } as const;
/** Event of rows of a feature view; `detail` is `FeatureRows` of `core/feature-store/ports.ts` with `platform`. */
export const featureRows = { Source: "ringmaster", DetailType: "Feature Rows" } as const;
/** Event of a feature view with batches for the online store; `detail` is `ViewDue` with `platform`. */
export const featureViewDue = { Source: "ringmaster", DetailType: "Feature View Due" } as const;
/** A version needs an approval; `detail` is `ApprovalNeeded` of `core/registry/approvals.ts` with `platform`. */
export const approvalNeeded = { Source: "ringmaster", DetailType: "Approval Needed" } as const;
/**
 * Event of rows that a data contract blocked; `detail` is `DataContractBlocked` of `core/datasets/contract/blocked.ts`
 * with `platform`.
 */
export const dataContractBlocked = { Source: "ringmaster", DetailType: "Data Contract Blocked" } as const;

/** Returns the name of a team's SNS topic, on which the platform publishes the team's events. */
export function teamTopicName(prefix: string, team: string): string {
  return `${prefix}-team-${team}`;
}
