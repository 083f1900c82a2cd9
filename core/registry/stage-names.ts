/** The stages of a model version. */
export const stages = ["none", "staging", "canary", "production", "archived"] as const;
