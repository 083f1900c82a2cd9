/**
 * Where a relative path leads that a client names as an experiment's place for files: into the server's directory, as with MLflow's server
 * (`resolve_uri_if_local`), so that all clients of one machine mean the same place. Other locations stay as they are.
 *
 * @param directory absolute; `undefined`: the server shares no disk with its clients, and a path is theirs to understand
 */
export function resolvedLocation(location: string, directory: string | undefined): string {
  if (directory === undefined) return location;
  const file = /^file:([^?]*)(\?.*)?$/s.exec(location);
  if (file) return file[1]!.startsWith("/") ? location : `file://${joined(directory, file[1]!)}${file[2] ?? ""}`;
  const isRelative = !location.startsWith("/") && !/^[a-z][a-z\d+.-]*:/i.test(location);
  return isRelative ? joined(directory, location) : location;
}

function joined(directory: string, path: string): string {
  return [directory.replace(/\/+$/, ""), ...path.split("/").filter((part) => part !== "" && part !== ".")].join("/");
}
