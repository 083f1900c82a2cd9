import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { checkLayout } from "./layout";
import { lock } from "./lock";
import { applyRepair, listDamage } from "./repair";

/** Prints the report of `ringmaster repair` as JSON: `{"damaged":[…]}`, with `aside` if files were moved there. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { data: { type: "string" }, apply: { type: "boolean", default: false } } });
  const data = resolve(values.data ?? ".ringmaster");
  checkLayout(data);
  const release = lock(data);
  try {
    const aside = join(data, `damaged-${new Date().toISOString().replaceAll(":", "-")}`);
    const damaged = values.apply ? await applyRepair(data, aside) : listDamage(data);
    process.stdout.write(JSON.stringify({ damaged, ...(values.apply && damaged.length > 0 ? { aside } : {}) }));
  } finally {
    release();
  }
}

process.umask(0o077);
main().catch((error: unknown) => {
  process.stderr.write(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
