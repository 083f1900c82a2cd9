/** Runs the randomised tests at ten times the size that `npm run verify` runs, some with other seeds, and the long tests whole. */
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const root = path.resolve(__dirname, "..");
const sizes = {
  RINGMASTER_CAMPAIGN: String(Date.now() % 2 ** 31),
  RINGMASTER_ALL_WORLDS: "1",
  RINGMASTER_PUSH_KILLS: "20",
  RINGMASTER_PUSH_SEED: String(Date.now() % 2 ** 31),
  RINGMASTER_LINE_BYTES: String(2 ** 30),
};
const inRounds = fs
  .readdirSync(path.join(root, "test"), { recursive: true })
  .map((name) => path.join("test", name))
  .filter(
    (name) => name.endsWith(".test.ts") && /\/support\/rounds"/.test(fs.readFileSync(path.join(root, name), "utf8")),
  );
const files = [
  ...inRounds,
  "test/adapters/duckdb/bad-files.test.ts",
  "test/e2e/cli.test.ts",
  "test/trainer/loop/native-worlds.test.ts",
];
for (const [name, value] of Object.entries(sizes)) console.log(`${name}=${value}`);
const { status } = spawnSync(
  process.execPath,
  [require.resolve("jest/bin/jest"), "--testTimeout", String(30 * 60_000), ...files],
  { cwd: root, stdio: "inherit", env: { ...sizes, ...process.env } },
);
process.exitCode = status ?? 1;
