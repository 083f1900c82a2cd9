/**
 * Resolves a relative path that a client gives as an experiment's location of artifacts: into the server's directory,
 * as MLflow's server does (`resolve_uri_if_local`), so that all clients of one machine use the same place. Other
 * locations stay unchanged.
 *
 * @param directory absolute; `undefined` if the server shares no disk with its clients
 */
export function resolvedLocation(location: string, directory: string | undefined): string {
  if (directory === undefined) return location;
  const file = /^file:([^?]*)(\?.*)?$/s.exec(location);
  if (file) return file[1]!.startsWith("/") ? location : `file://${locationUnder(directory, file[1]!)}${file[2] ?? ""}`;
  const isRelative = !location.startsWith("/") && !/^[a-z][a-z\d+.-]*:/i.test(location);
  return isRelative ? locationUnder(directory, location) : location;
}

function locationUnder(directory: string, path: string): string {
  return [directory.replace(/\/+$/, ""), ...path.split("/").filter((part) => part !== "" && part !== ".")].join("/");
}
