import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { checkLayout } from "./layout";
import { lock } from "./lock";
import { listDamage } from "./repair";

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { data: { type: "string" }, delete: { type: "string", multiple: true, default: [] } },
  });
  const data = resolve(values.data ?? ".ringmaster");
  checkLayout(data);
  const release = lock(data);
  try {
    const damaged = await listDamage(data);
    const named = values.delete.map((name) => {
      const finding = damaged.find(({ item }) => item === name);
      if (!finding) throw new Error(`${name} is not damaged, so nothing was deleted`);
      if (!finding.delete) throw new Error(`${name} cannot be deleted alone, so nothing was deleted. Restore a backup`);
      return finding;
    });
    for (const item of named) await item.delete?.();
    const left = damaged.filter((item) => !named.includes(item));
    const shown = left.map(({ item, reason, delete: remove }) => ({ item, reason, deletable: remove !== undefined }));
    process.stdout.write(JSON.stringify({ damaged: shown, deleted: named.map(({ item }) => item) }));
  } finally {
    release();
  }
}

process.umask(0o077);
main().catch((error: unknown) => {
  process.stderr.write(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
