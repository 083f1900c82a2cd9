import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { syncDirectory } from "../../adapters/files/directory";
import { Database } from "./database";
import { hasDatabase, type StoreLocation, sealPath } from "./seal";

const chunk = 1_000;

/**
 * Replaces a damaged database by a new one with these rows, and moves the old files and the old seal to `aside`.
 *
 * The new database is complete before the old one is moved, and the new seal is written last. If the process dies in
 * between, the old seal is still in place, so the store is refused until another repair completes this one.
 */
export async function rebuild(
  location: StoreLocation,
  rows: ReadonlyMap<string, string>,
  where: { readonly data: string; readonly aside: string },
  complete: (directory: string) => Promise<void> = async () => undefined,
): Promise<void> {
  const { directory, store } = location;
  const unfinished = `${directory}.repairing`;
  rmSync(unfinished, { recursive: true, force: true });
  const database = new Database<Buffer>({ directory: unfinished, store }, "buffer");
  await database.open();
  const writes = [...rows].map(([name, value]) => ({ key: Buffer.from(name, "latin1"), value }));
  for (let at = 0; at < writes.length; at += chunk) await database.write(writes.slice(at, at + chunk));
  await database.close();
  await complete(unfinished);

  rmSync(repairedPath(location), { recursive: true, force: true });
  renameSync(unfinished, repairedPath(location));
  const kept = join(where.aside, relative(where.data, directory));
  mkdirSync(dirname(kept), { recursive: true });
  if (existsSync(sealPath(location)))
    cpSync(sealPath(location), join(where.aside, "seals", basename(sealPath(location))));
  if (existsSync(directory)) renameSync(directory, kept);
  finishRebuild(location);
}

/**
 * Completes a repair that has built the new database and died before it was in place. Returns whether there was one.
 */
export function finishRebuild(location: StoreLocation): boolean {
  const { directory, store } = location;
  const repaired = repairedPath(location);
  if (existsSync(repaired) && !hasDatabase(directory)) {
    rmSync(directory, { recursive: true, force: true });
    renameSync(repaired, directory);
    syncDirectory(dirname(directory));
  }
  // Only during the repair is the seal next to the files.
  const own = join(directory, `${store}.seal`);
  if (own === sealPath(location) || !existsSync(own)) return false;
  mkdirSync(dirname(sealPath(location)), { recursive: true, mode: 0o700 });
  renameSync(own, sealPath(location));
  syncDirectory(dirname(sealPath(location)));
  return true;
}

function repairedPath({ directory }: StoreLocation): string {
  return `${directory}.repaired`;
}
