/** A script of a user that takes steps of a few milliseconds, with a checkpoint of each, and reports a SIGTERM. */
const { existsSync, readFileSync, renameSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");

const { SM_CHECKPOINT_DIR, SM_CHANNEL_TEST, SM_MODEL_DIR, SM_OUTPUT_DATA_DIR, RINGMASTER_NOTICE, RANK, WORLD_SIZE } =
  process.env;
const total = 60;
const path = join(SM_CHECKPOINT_DIR, "step.txt");
let step = existsSync(path) ? Number(readFileSync(path, "utf8")) : 0;
console.log(`pid ${process.pid} rank ${RANK} of ${WORLD_SIZE} from ${step}`);

function save() {
  writeFileSync(`${path}.new`, String(step));
  renameSync(`${path}.new`, path);
}

process.on("SIGTERM", () => {
  if (RANK === "0") save();
  console.log(`stopped at ${step} by ${readFileSync(RINGMASTER_NOTICE, "utf8").trim()}`);
  process.exit(0);
});

setInterval(() => {
  step += 1;
  if (RANK === "0") save();
  console.log(`step ${step}`);
  if (step < total) return;
  const rows = readFileSync(join(SM_CHANNEL_TEST, "data.csv"), "utf8").trim().split("\n").length - 1;
  const lines = Array.from({ length: rows }, (_, row) => `${row},0.5,0.25,0.25`);
  writeFileSync(join(SM_OUTPUT_DATA_DIR, "predictions.csv"), ["row,a,b,c", ...lines].join("\n"));
  writeFileSync(join(SM_MODEL_DIR, "model.txt"), String(step));
  process.exit(0);
}, 50);
