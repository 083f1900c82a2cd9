/** Builds when the sources have changed since the last build; returns the directory of the bundles. */
export function ensureBuild(): string;
export const root: string;
/** Returns the entry points of the bundles: output name without ending → source file, relative to the root. */
export function entryPoints(): Readonly<Record<string, string>>;
/** Packages that the bundles require at run time; a star stands for any name in the scope. */
export const external: readonly string[];
