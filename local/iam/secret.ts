import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What seals a data directory's temporary keys: made once, whole or not at all, readable by its owner alone. */
export function sealingSecret(dataDirectory: string): string {
  const file = join(dataDirectory, "secret");
  if (!existsSync(file)) {
    mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
    const unfinished = `${file}.tmp`;
    writeFileSync(unfinished, randomBytes(32).toString("hex"), { mode: 0o600 });
    renameSync(unfinished, file);
  }
  return readFileSync(file, "utf8");
}
