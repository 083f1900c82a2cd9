import { createReadStream, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { type FolderFile, listFolder } from "../../adapters/files/folder";
import { type DocumentKind, getJson } from "../../core/object-documents";
import { objectKeys } from "../../core/object-keys";
import type { ObjectStore } from "../../core/ports";
import { sha256 } from "../../core/shapes";
import { isInside } from "../../core/tar";

const manifestSchema = z.object({
  files: z.array(z.object({ path: z.string().refine(isInside), sha256, bytes: z.int().min(0) })).max(100_000),
});
type Manifest = z.output<typeof manifestSchema>;

const folderManifest: DocumentKind<Manifest> = {
  name: "the manifest of a checkpoint folder",
  schema: manifestSchema,
  maxBytes: 2 ** 26,
};

/**
 * Copies the command's checkpoint folder to the store by content, and back. Each generation of the gang has a manifest,
 * which its rank 0 writes after the files; a rank that was replaced without noticing cannot change a later one.
 */
export class CheckpointFolder {
  /** The files as they are stored, by path, and the stamps of the local ones. */
  private stored = new Map<string, Manifest["files"][number] & { readonly stamp: string }>();
  /** Number of states that this worker has stored. */
  saves = 0;
  private seen = "";
  /** Looks at which the folder had changed since the look before. */
  private restless = 0;
  private saved = "";
  private saving: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: ObjectStore,
    private readonly runId: string,
    readonly directory: string,
  ) {}

  /** Makes the folder equal to the newest manifest; without one it stays as it is. */
  async restore(): Promise<void> {
    await this.saving;
    const key = (await this.store.list(objectKeys.folderPrefix(this.runId))).at(-1);
    if (key === undefined) return;
    const { files } = await getJson(this.store, key, folderManifest);
    const local = new Map(listFolder(this.directory).map(({ path, stamp }) => [path, stamp]));
    const names = new Set(files.map(({ path }) => path));
    for (const path of local.keys()) if (!names.has(path)) rmSync(join(this.directory, path));
    for (const file of files) {
      const known = this.stored.get(file.path);
      if (known?.sha256 === file.sha256 && known.stamp === local.get(file.path)) continue;
      const target = join(this.directory, file.path);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, await this.store.getContent(file.sha256, objectKeys.trainingFile(this.runId, file.sha256)));
    }
    const shas = new Map(files.map((file) => [file.path, file]));
    const now = listFolder(this.directory);
    this.stored = new Map(now.map(({ path, stamp }) => [path, { ...shas.get(path)!, stamp }]));
    this.seen = this.saved = stampOf(now);
  }

  /**
   * Stores the folder if it has changed. While the command runs, the folder must be the same as at the previous look, so
   * that no file is being written; of one that always changes, a state that stays the same while it is sent.
   * @param settled the command has ended
   */
  save(generation: number, settled: boolean): Promise<void> {
    this.saving = this.saving.catch(() => undefined).then(() => this.saveNow(generation, settled));
    return this.saving;
  }

  private async saveNow(generation: number, settled: boolean): Promise<void> {
    const files = listFolder(this.directory);
    const stamp = stampOf(files);
    this.restless = stamp === this.seen ? 0 : this.restless + 1;
    const isQuiet = settled || this.restless === 0 || this.restless > maxRestless;
    this.seen = stamp;
    if (!isQuiet || stamp === this.saved) return;
    const before = new Set([...this.stored.values()].map((file) => file.sha256));
    const stored: typeof this.stored = new Map();
    for (const file of files) {
      const known = this.stored.get(file.path);
      stored.set(file.path, known?.stamp === file.stamp ? known : await this.send(file));
    }
    if (!settled && stampOf(listFolder(this.directory)) !== stamp) return;
    const manifest = { files: [...stored.values()].map(({ path, sha256, bytes }) => ({ path, sha256, bytes })) };
    await this.store.put(
      objectKeys.folderManifest(this.runId, generation),
      JSON.stringify(manifest),
      "application/json",
    );
    this.stored = stored;
    this.saved = stamp;
    this.saves += 1;
    for (const { sha256 } of stored.values()) before.delete(sha256);
    for (const sha256 of before) await this.store.delete(objectKeys.trainingFile(this.runId, sha256));
  }

  private async send({ path, bytes, stamp }: FolderFile) {
    const content = await this.store.putContentStream(
      () => createReadStream(join(this.directory, path)),
      undefined,
      async (reference) => {
        const key = objectKeys.trainingFile(this.runId, reference.sha256);
        return { key, stored: (await this.store.size(key)) === reference.bytes };
      },
    );
    return { path, sha256: content.sha256, bytes: content.bytes, stamp: content.bytes === bytes ? stamp : "" };
  }
}

/** One second. */
const maxRestless = 5;

const stampOf = (files: readonly FolderFile[]): string => files.map(({ path, stamp }) => `${path} ${stamp}`).join("\n");
