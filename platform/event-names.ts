/** Of every change of a model or its versions; `detail` is a line of the model's history with `platform`, `team` and `model`. */
export const modelChanged = { Source: "ringmaster", DetailType: "Model Version Changed" } as const;
/** The end of a training run; `detail` is `RunEnded` of `core/training/run-ended.ts` with `platform`. */
export const runEnded = { Source: "ringmaster", DetailType: "Training Run Ended" } as const;
/** A version waits for people; `detail` is `ApprovalNeeded` of `core/registry/approval-needed.ts` with `platform`. */
export const approvalNeeded = { Source: "ringmaster", DetailType: "Approval Needed" } as const;
