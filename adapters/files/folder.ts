import { createReadStream, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isInside, tarEnd, tarFiles, tarHeader, tarPadding } from "../../core/tar";

export interface FolderFile {
  /** Relative, with slashes. */
  readonly path: string;
  readonly bytes: number;
  /** Changes with the file's content. */
  readonly stamp: string;
}

/** Folders that are not code. */
const ignored: ReadonlySet<string> = new Set([".git", "node_modules", "__pycache__", ".venv", ".ipynb_checkpoints"]);

/** Lists the files below a folder by path; links are followed to files only. */
export function listFolder(folder: string, skip: ReadonlySet<string> = new Set(), below = ""): readonly FolderFile[] {
  const names = readdirSync(join(folder, below), { withFileTypes: true });
  const files = names.flatMap((entry): readonly FolderFile[] => {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) return skip.has(entry.name) ? [] : listFolder(folder, skip, path);
    const stat = statSync(join(folder, path), { throwIfNoEntry: false });
    return stat?.isFile() ? [{ path, bytes: stat.size, stamp: `${stat.size} ${stat.mtimeMs} ${stat.ino}` }] : [];
  });
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Packs files of a folder. @throws Error if a file changes in the meantime */
export async function* packFolder(folder: string, files: readonly FolderFile[]): AsyncGenerator<Uint8Array> {
  for (const { path, bytes } of files) {
    yield tarHeader(path, bytes);
    let read = 0;
    for await (const chunk of createReadStream(join(folder, path))) {
      read += (chunk as Buffer).length;
      yield chunk as Buffer;
    }
    if (read !== bytes) throw new Error(`${path} changed while it was packed`);
    yield tarPadding(bytes);
  }
  yield tarEnd();
}

/** Returns the files of a folder of code. */
export const listCode = (folder: string): readonly FolderFile[] => listFolder(folder, ignored);

/** Writes the files of an archive into a folder. @throws Error if a path leaves it */
export function unpackFolder(archive: Uint8Array, folder: string): void {
  for (const { path, body } of tarFiles(archive)) {
    if (!isInside(path)) throw new Error(`the archive has a file outside of its folder: ${path}`);
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), body);
  }
}
