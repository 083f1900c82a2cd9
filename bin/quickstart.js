#!/usr/bin/env node
/**
 * The main job on real data, by the commands that a person would type: handwritten digits to a champion model. Each step is named and
 * shows its progress; the last line of stdout is one JSON object.
 */
const { spawn, spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const root = path.resolve(__dirname, "..");
const data = path.resolve(process.env.RINGMASTER_DATA ?? ".ringmaster");
const cli = [path.join(root, "bin", "ringmaster.js"), "--data", data];
const digits = path.join(root, "examples", "digits");
const by = data === path.resolve(".ringmaster") ? "npx ringmaster" : `npx ringmaster --data ${data}`;
const steps = 7;
let step = 0;

function title(text) {
  step += 1;
  process.stdout.write(`\n[${step}/${steps}] ${text}\n`);
}

/** Runs a command with its output shown; rejects where its exit code is not accepted. */
function show(args, accepted = [0]) {
  process.stdout.write(`$ ringmaster ${args.join(" ")}\n`);
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...cli, ...args], { stdio: ["ignore", "inherit", "inherit"], cwd: root });
    child.on("error", reject);
    child.on("exit", (code) =>
      accepted.includes(code) ? resolve(code) : reject(new Error(`ringmaster ${args[0]} ended with code ${code}`)),
    );
  });
}

/** Runs a command with --json and answers what it printed. */
function ask(...args) {
  const result = spawnSync(process.execPath, [...cli, ...args, "--json"], {
    encoding: "utf8",
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
  });
  if (result.status !== 0 && result.status !== 3) throw new Error(`ringmaster ${args.join(" ")}: ${result.stderr}`);
  return JSON.parse(result.stdout);
}

function node(script, ...args) {
  const result = spawnSync(process.execPath, [path.join(root, script), ...args], {
    stdio: ["ignore", "inherit", "inherit"],
    cwd: root,
  });
  if (result.status !== 0) throw new Error(`${script} ended with code ${result.status}`);
}

/** A stack that runs already is used and left running; else one is started, on free ports where the usual ones are taken. */
async function bringUp() {
  if (spawnSync(process.execPath, [...cli, "status"], { cwd: root }).status === 0) {
    await show(["status"]);
    return false;
  }
  try {
    await show(["up", "--detach"]);
  } catch {
    await show(["up", "--detach", "--port", "0", "--api-port", "0"]);
  }
  return true;
}

async function main() {
  title("Compute engine: native TensorFlow where it can be had, else WebAssembly");
  node("trainer-container/native/install.js");

  title("The embedded cloud: DynamoDB, S3, Step Functions, Batch, EventBridge, Lambda and the API on 127.0.0.1");
  const started = await bringUp();
  try {
    title("Real data: 10,000 handwritten digits, as an immutable dataset version");
    fs.mkdirSync(path.join(data, "examples"), { recursive: true });
    const file = path.join(data, "examples", "digits.parquet");
    node("examples/digits/prepare.js", file);
    await show(["datasets", "push", "digits", "--file", file, "--schema", path.join(digits, "schema.yaml")]);

    title("A training run: validate, features, two trainers that all-reduce, evaluate, register, gates");
    const job = path.join(digits, "job.yaml");
    process.stdout.write(`$ ringmaster submit ${path.relative(root, job)}\n`);
    const run = ask("submit", job);
    await show(["runs", "watch", run.runId], [0, 3]);

    title("The approval, by the call that a person would make");
    const ended = ask("runs", "show", run.runId);
    const made = ended.steps.find((record) => record.step === "Register").output;
    if (ended.outcome?.decision === "registered")
      await show(["models", "approve", made.model, String(made.version), "--reason", "quickstart", "--wait"]);
    else
      process.stdout.write(
        `version ${made.version} of ${made.model} needs none: ${ended.outcome?.decision ?? ended.status}\n`,
      );

    title("The version that serving loads");
    await show(["models", "resolve", made.model]);

    const done = ask("runs", "show", run.runId);
    const resolved = ask("models", "resolve", made.model);
    const shown = ask("models", "show", made.model);
    const version = shown.versions.find((one) => one.version === made.version);

    title("Done");
    for (const { step: name, reusedFrom } of done.reused)
      process.stdout.write(`  reused: ${name} (from ${reusedFrom})\n`);
    process.stdout.write(
      `The data stay in ${data}. Look at them with:\n  ${by} up --detach\n  ${by} runs show ${run.runId}\n  ${by} models show ${made.model}\n`,
    );
    if (started) await show(["down"]);
    process.stdout.write(
      `${JSON.stringify({
        model: made.model,
        version: made.version,
        stage: version.stage,
        metrics: version.metrics,
        weightsSha256: resolved.version === made.version ? resolved.sha256 : version.weightsSha256,
        runId: run.runId,
        backend: done.backend,
      })}\n`,
    );
    if (version.stage !== "production") process.exitCode = 1;
  } catch (error) {
    if (started) await show(["down"]).catch(() => undefined);
    throw error;
  }
}

main().catch((error) => {
  process.stderr.write(`quickstart: ${error.message}\n`);
  process.exitCode = 1;
});
