/** Of every change of a model or its versions; `detail` is a line of the model's history with `platform`, `team` and `model`. */
export const modelChanged = { Source: "ringmaster", DetailType: "Model Version Changed" } as const;
