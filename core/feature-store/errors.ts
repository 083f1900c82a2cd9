import { conflict, contended, notFound } from "../errors";

export const viewNotFound = (name: string) =>
  notFound("FEATURE_VIEW_NOT_FOUND", `there is no feature view ${JSON.stringify(name)}`, { view: name });

export const viewVersionNotFound = (name: string, version: number, latest: number) =>
  notFound(
    "FEATURE_VIEW_VERSION_NOT_FOUND",
    `feature view ${name} has no version ${version}; its latest is ${name}@${latest}`,
    { view: name, version, latest },
  );

/**
 * Thrown when a definition breaks readers of the previous version and the push did not allow it.
 *
 * @param production model versions in production that read the view
 */
export function viewIncompatible(
  name: string,
  version: number,
  changes: readonly string[],
  production: readonly string[] = [],
) {
  const uses = production.length > 0 ? `; in production, ${production.join(", ")} would get no new rows` : "";
  return conflict(
    "FEATURE_VIEW_INCOMPATIBLE",
    `the definition is not compatible with ${name}@${version}: ${changes.join("; ")}; push under another name, or with --allow-incompatible, which starts without rows${uses}`,
    { view: name, version, changes, production },
  );
}

export const viewChanged = (name: string, generation: number, newest: number) =>
  conflict(
    "FEATURE_VIEW_CHANGED",
    `the rows are for generation ${generation} of feature view ${name}, but its newest version reads generation ${newest}; ingest them again`,
    { view: name, generation, newest },
  );

export const viewBusy = (name: string) => contended("FEATURE_VIEW_BUSY", `feature view ${name}`, { view: name });
