import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Edit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const noCrc = (file: string): Edit => ({
  file,
  from: 'import { crc32 } from "node:zlib";',
  to: "const crc32 = (_data: unknown, _seed = 0): number => 0;",
});

/** The computation, the extra bytes and the writes by which the embedded services detect damage. */
export const edits: readonly Edit[] = [
  noCrc("local/storage/sealed-line.ts"),
  noCrc("local/storage/slot-file.ts"),
  noCrc("local/s3/blocks.ts"),
  noCrc("local/s3/record.ts"),
  { file: "local/storage/sealed-value.ts", from: "return this.head(key, value) + value;", to: "return value;" },
  {
    file: "local/storage/sealed-value.ts",
    from: "if (!looksSealed(sealed)) return undefined;",
    to: "if (sealed !== undefined) return sealed;",
  },
  {
    file: "local/storage/sealed-value.ts",
    from: "if (sealed.length < headLength) return false;",
    to: "if (sealed !== undefined) return true;",
  },
  // The number of the last acknowledged change, which is written after each commit.
  {
    file: "local/storage/database.ts",
    from: "this.syncNewFiles();\n    this.acknowledge();",
    to: "this.syncNewFiles();",
  },
];

const folders = [
  ...[
    "adapters",
    "api",
    "bin",
    "cli",
    "client",
    "core",
    "examples",
    "infra",
    "lambdas",
    "local",
    "platform",
    "scripts",
  ],
  ...["state-machines", "trainer-container"],
];
const files = ["package.json", "package-lock.json", "cdk.json", "tsconfig.json"];

/**
 * Copies the product without its checksums of stored data, for comparison. Only the copy can read the data that it writes.
 *
 * @returns the copy's directory, and a function that deletes it
 * @throws Error if the code to leave out has changed
 */
export function copyWithoutChecksums(): { readonly directory: string; readonly remove: () => void } {
  const directory = mkdtempSync(join(tmpdir(), "ringmaster-no-checksums-"));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  try {
    for (const name of [...folders, ...files]) cpSync(name, join(directory, name), { recursive: true });
    symlinkSync(join(process.cwd(), "node_modules"), join(directory, "node_modules"));
    for (const { file, from, to } of edits) {
      const path = join(directory, file);
      const text = readFileSync(path, "utf8");
      if (text.split(from).length !== 2) throw new Error(`${file} must contain this once, to be left out: ${from}`);
      writeFileSync(path, text.replace(from, to));
    }
    return { directory, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
