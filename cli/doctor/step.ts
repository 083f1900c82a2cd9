import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApiClient } from "../../client/api-client";
import { formatDuration } from "../../core/quantities";
import { isOpen } from "../../core/runs/run-states";
import type { RunDetails } from "../../core/runs/shapes";
import { pushDataset } from "../datasets/push";
import { createUploads } from "../uploads";
import type { Finding } from "./account";

export type StepKind = "cpu" | "gpu";

const name = "ringmaster-doctor";
const pollMs = 1_000;

/**
 * Trains one epoch on a queue of this kind, like any run; cancelled after `waitMs`, which includes a machine's start.
 */
export async function checkStep(
  client: ApiClient,
  kind: StepKind,
  waitMs: number,
  say: (line: string) => void = () => undefined,
): Promise<Finding> {
  const check = `one ${kind.toUpperCase()} step`;
  const { runId } = await submit(client, kind);
  say(`${check}: ${runId}`);
  const started = performance.now();
  for (;;) {
    const details = await client.run(runId);
    if (!isOpen(details.run.status)) return ended(check, details, performance.now() - started);
    if (performance.now() - started > waitMs) {
      await client.cancelRun(runId);
      return late(check, kind, details, waitMs);
    }
    await new Promise((wait) => setTimeout(wait, pollMs));
  }
}

async function submit(client: ApiClient, kind: StepKind): Promise<{ readonly runId: string }> {
  const { registered } = await pushRows(client);
  const job = {
    experiment: name,
    dataset: `${name}@${registered.version.manifest.version}`,
    model: { type: "mlp" as const, hidden: [4] },
    hyperparameters: { batchSize: 8, epochs: 1 },
    resources: kind === "gpu" ? { gpusPerWorker: 1, vcpusPerWorker: 4, memoryMbPerWorker: 8_192 } : {},
    retries: 0,
    notes: "Written by `ringmaster doctor`.",
  };
  return client.submitRun({ job, noCache: true }, randomUUID());
}

/** Pushes 64 rows with two classes. The same rows are the same version, so a repetition creates none. */
async function pushRows(client: ApiClient) {
  const directory = mkdtempSync(join(tmpdir(), "ringmaster-doctor-"));
  try {
    const file = join(directory, "rows.csv");
    const schemaFile = join(directory, "schema.yaml");
    const rows = Array.from({ length: 64 }, (_, i) => `${i / 64},${(i * 37) % 64},${i < 32 ? "low" : "high"}`);
    writeFileSync(file, `x,y,label\n${rows.join("\n")}\n`);
    writeFileSync(schemaFile, schema);
    return await pushDataset({
      name,
      file,
      schemaFile,
      uploads: createUploads(client),
      register: (draft, sources, warnings) => client.registerDataset(draft, true, sources, warnings),
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const schema = `columns:
  - { name: x, type: float }
  - { name: y, type: float }
  - { name: label, type: string, role: label, values: [low, high] }
split: { seed: 1, fractions: { train: 0.5, validation: 0.25, test: 0.25 } }
`;

function ended(check: string, { run, attempts }: RunDetails, ms: number): Finding {
  if (run.status === "completed") return { check, result: "ok", found: `${run.runId} took ${formatDuration(ms)}` };
  const failure = run.failure ? `${run.failure.code}: ${run.failure.message}` : run.status;
  const command = attempts.length > 0 ? "logs" : "show";
  return {
    check,
    result: "problem",
    found: `${run.runId} is ${run.status} in ${run.phase ?? "the queue"}: ${failure}`,
    fix: `See the cause: ringmaster runs ${command} ${run.runId}`,
  };
}

function late(check: string, kind: StepKind, { run, progress }: RunDetails, waitMs: number): Finding {
  const waits = run.phase === "LaunchTraining" && progress === undefined;
  return {
    check,
    result: "problem",
    found: `${run.runId} was not done after ${formatDuration(waitMs)} (${run.phase ?? "queued"}), and was cancelled`,
    fix: waits
      ? `No machine started. Compare the ${kind === "gpu" ? "GPU " : ""}quotas above, then follow "jobs-not-starting" in docs/operations.md; a machine's first start takes minutes: --wait 30`
      : `See where it is: ringmaster runs show ${run.runId}`,
  };
}
