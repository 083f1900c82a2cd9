export type { Experiment, Lifecycle } from "./shapes";

export const defaultExperimentId = "0";
