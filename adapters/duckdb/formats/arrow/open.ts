import type { DuckDbSession } from "../../session";
import type { TableFile } from "../tables";

const opened = new WeakMap<DuckDbSession, Map<string, Promise<TableFile>>>();

/** Reads an Arrow file into a table, once in a session. @throws InvalidInputError */
export function openArrow(session: DuckDbSession, file: string): Promise<TableFile> {
  const known = opened.get(session) ?? new Map<string, Promise<TableFile>>();
  opened.set(session, known);
  const found = known.get(file) ?? load(session, file, `arrow_${known.size}`);
  known.set(file, found);
  return found;
}

async function load(session: DuckDbSession, file: string, table: string): Promise<TableFile> {
  // Loaded on first use, because only Arrow files need the library.
  const { writeArrowTable } = await import("./table");
  // Each file is a table of its own, and so has a form of its own.
  return { file, types: await writeArrowTable(session, file, table), form: table, read: () => table };
}
