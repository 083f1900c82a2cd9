/** Builds when the sources have changed since the last build; returns the directory of the bundles. */
export function ensureBuild(): string;
export const root: string;
