// Made from docs/api/openapi.json by `npm run api`. Do not edit.

export type * from "./schemas/contents";
export type * from "./schemas/datasets";
export type * from "./schemas/experiments";
export type * from "./schemas/models";
export type * from "./schemas/notifications";
export type * from "./schemas/retraining";
export type * from "./schemas/runs";
export type * from "./schemas/serving";
export type * from "./schemas/shared";
export type * from "./schemas/system";
export type * from "./schemas/training-runs";
