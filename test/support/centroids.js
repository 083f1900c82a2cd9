/** A script of a user without any package: the nearest centroid of each class, a file and metrics on the way. */
const { readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");

const { SM_CHANNEL_TRAIN, SM_CHANNEL_TEST, SM_MODEL_DIR, SM_OUTPUT_DATA_DIR, SM_HPS, RANK, WORLD_SIZE } = process.env;
const { wrong } = JSON.parse(SM_HPS);
const columns = ["x1", "x2", "x3"];

function read(folder) {
  const [head, ...lines] = readFileSync(join(folder, "data.csv"), "utf8").trim().split("\n");
  const names = head.split(",");
  return lines.map((line) => Object.fromEntries(line.split(",").map((value, at) => [names[at], value])));
}

async function log(path, body) {
  const url = `${process.env.MLFLOW_TRACKING_URI}/api/2.0/mlflow/${path}`;
  const answer = await fetch(url, { method: "POST", body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
}

async function main() {
  const secrets = Object.keys(process.env).filter((name) => /^AWS_|RUN_KEY/.test(name));
  console.log(`rank ${RANK} of ${WORLD_SIZE}, secrets: ${secrets.length}`);
  if (wrong === "exit") process.exit(3);
  if (RANK !== "0") return;
  const sums = [0, 1, 2].map(() => ({ rows: 0, means: columns.map(() => 0) }));
  for (const row of read(SM_CHANNEL_TRAIN)) {
    const sum = sums[Number(row.label)];
    sum.rows += 1;
    for (const [at, name] of columns.entries()) sum.means[at] += Number(row[name]);
  }
  const centroids = sums.map(({ rows, means }) => means.map((mean) => mean / rows));
  writeFileSync(join(SM_MODEL_DIR, "centroids.json"), JSON.stringify(centroids));
  const lines = read(SM_CHANNEL_TEST).map((row, index) => {
    const weights = centroids.map((centroid) =>
      Math.exp(-4 * centroid.reduce((sum, mean, at) => sum + (Number(row[columns[at]]) - mean) ** 2, 0)),
    );
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return [index, ...weights.map((weight) => weight / total)].join(",");
  });
  const kept = wrong === "rows" ? lines.slice(1) : lines;
  writeFileSync(join(SM_OUTPUT_DATA_DIR, "predictions.csv"), ["row,0,1,2", ...kept].join("\n"));
  await log("runs/log-batch", {
    metrics: [{ key: "train/loss", value: 0.25, step: 7 }],
    params: [{ key: "k", value: "3" }],
  });
}

main();
