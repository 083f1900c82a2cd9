import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildSync } from "esbuild";
import { functionNameIn, functions } from "../../platform/functions";
import type { HostileKeys, HostileWorld } from "../support/hostile-requests";
import { type TestStack, until } from "./harness";

export type Outcomes = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface Phase {
  /** Results with the session that the module took. */
  readonly keys: HostileKeys;
  readonly outcomes: { readonly session: Outcomes; readonly job: Outcomes };
}

/** A training module that makes every request before its training and during it, once a file permits it. */
export class HostileModule {
  private readonly directory: string;
  readonly source: string;

  constructor(stack: TestStack) {
    this.directory = join(stack.directory, "hostile");
    mkdirSync(this.directory);
    const outfile = join(this.directory, "hostile-module.js");
    const entry = resolve(__dirname, "../support/hostile-module.ts");
    buildSync({ entryPoints: [entry], bundle: true, platform: "node", outfile, logLevel: "error" });
    const attack = (phase: string): string =>
      `execFileSync(process.execPath, ${JSON.stringify([outfile, this.directory, phase])})`;
    this.source = `import { execFileSync } from "node:child_process";
import { losses, oneHot } from "@tensorflow/tfjs-core";
import { defineTraining } from "ringmaster";
${attack("before")};
let calls = 0;
export default defineTraining({
  model: ({ tf, outputs }) => tf.sequential({ layers: [tf.layers.dense({ units: outputs, inputShape: [6] })] }),
  loss: (labels, outputs) => {
    if (++calls === 2) ${attack("during")};
    return losses.softmaxCrossEntropy(oneHot(labels, 3), outputs);
  },
});`;
  }

  /** Lets the module attack, and returns what became of it. */
  async attack(phase: "before" | "during", world: Omit<HostileWorld, "connection">): Promise<Phase> {
    const file = (ending: string): string => join(this.directory, `${phase}.${ending}`);
    writeFileSync(file("world"), JSON.stringify(world));
    renameSync(file("world"), file("go"));
    const found = await until(`the module's requests ${phase} its training`, async () => {
      try {
        return JSON.parse(readFileSync(file("json"), "utf8")) as Phase & { readonly failed?: string };
      } catch {
        return undefined;
      }
    });
    if (found.failed !== undefined) throw new Error(found.failed);
    return found;
  }
}

const functionNames = functions.map(({ name }) => functionNameIn("ringmaster", name));

/** The targets of a hostile module. @param known ids of things that are there */
export function hostileWorld(known: {
  readonly runId: string;
  readonly otherRun: string;
  readonly content: string;
  /** SHA-256 of "hostile". */
  readonly newContent: string;
  readonly features: string;
}): Omit<HostileWorld, "connection"> {
  const team = "teams/default";
  const own = `${team}/runs/${known.runId}`;
  return {
    bucket: "ringmaster-data",
    runId: known.runId,
    keys: {
      "its training": `${own}/training/hostile`,
      "its checkpoints": `${own}/checkpoints/999999999999/manifest.json`,
      "its tensors": `${own}/tensors/000000000001/${known.newContent}`,
      "its artifact manifest": `${own}/artifacts/manifest.json`,
      "its evaluation": `${team}/evaluations/${known.runId}/hostile/result.json`,
      "its exports": `${own}/exports/tfjs-1.json`,
      "the rest of its run": `${own}/hostile`,
      "another run": `${team}/runs/${known.otherRun}/training/result.json`,
      "a run whose name begins as its own": `${own}2/training/hostile`,
      content: `${team}/cas/sha256/${known.content}`,
      "new content": `${team}/cas/sha256/${known.newContent}`,
      "new content under a wrong digest": `${team}/cas/sha256/${"0".repeat(64)}`,
      features: known.features,
      "a dataset's manifest": `${team}/datasets/toy/versions/1/manifest.json`,
      "what serving loads": `${team}/models/toy/production.json`,
      "the root of signing keys": `${team}/keys/check-hooks`,
      "an inbox": `${team}/inbox/toy/hostile.csv`,
      "another team": `teams/speech/runs/${known.runId}/training/hostile`,
      "incoming content": "teams/.incoming/default/hostile",
      "the bucket's root": "hostile",
    },
    rows: {
      "ringmaster-Gangs": { "its gang": `GANG#${known.runId}#ROSTER`, "another gang": `GANG#${known.otherRun}` },
      "ringmaster-Catalog": { "its run": `RUN#${known.runId}`, "a model": "TEAM#default#MODEL#toy" },
      "ringmaster-Metrics": { "its metrics": `RUN#${known.runId}` },
    },
    functions: functionNames,
    roles: ["ringmaster-run-us-east-1", "ringmaster-api"].map((role) => `arn:aws:iam::000000000000:role/${role}`),
  };
}

const refused = /^(AccessDenied|AccessDeniedException)$/;
const objectVerbs = [
  ...["put", "put if new", "put if there", "get", "copy onto", "copy from", "begin parts"],
  ...["end parts", "end parts if new", "list", "delete many", "delete"],
];
/** Rights on an object that may be written. */
const writable = {
  ...Object.fromEntries(objectVerbs.map((verb) => [verb, "done"])),
  ...{ "put if new": "PreconditionFailed", "end parts if new": "PreconditionFailed" },
};

/** Rights of a run's session, by class and verb; everything else is refused. From docs/security.md, "A trainer's credentials". */
const allowed: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "its training": writable,
  "its checkpoints": writable,
  "its artifact manifest": { list: "done" },
  "its exports": { list: "done" },
  "the rest of its run": { list: "done" },
  // The copy has other bytes than the key's digest says.
  "its tensors": { ...writable, "copy onto": "BadDigest" },
  content: { get: "done", "copy from": "done" },
  features: { get: "done", "copy from": "done" },
  "ringmaster-Gangs: its gang": { put: "done", get: "done", query: "done", "get many": "done", update: "done" },
  // A task's state machine is known by its token alone, which is checked first.
  services: { "invoke ringmaster-ingest-metrics": "done", "say who it is": "done", "answer a task": "InvalidToken" },
};

/** The keys of a trainer's job alone. */
const allowedToJob: typeof allowed = {
  services: {
    "invoke ringmaster-run-credentials": "done",
    "invoke ringmaster-continue-job": "done",
    "say who it is": "done",
    "answer a task": "InvalidToken",
  },
};

/** The keys of a session whose run has ended. IAM refuses nobody `GetCallerIdentity`, and a task's token is checked first. */
const allowedAfterTheEnd: typeof allowed = {
  services: { "say who it is": "done", "answer a task": "InvalidToken" },
};

const rightsOf = { session: allowed, job: allowedToJob, "ended session": allowedAfterTheEnd };

/** Differences from the rights of a session, of a job, or of a session whose run has ended: `class: verb: outcome, not …`. */
export function faults(outcomes: Outcomes, of: keyof typeof rightsOf, more: typeof allowed = {}): readonly string[] {
  const rights = rightsOf[of];
  return Object.entries(outcomes).flatMap(([name, verbs]) =>
    Object.entries(verbs).flatMap(([verb, outcome]) => {
      const expected = more[name]?.[verb] ?? rights[name]?.[verb];
      const holds = expected === undefined ? refused.test(outcome) : outcome === expected;
      return holds ? [] : [`${name}: ${verb}: ${outcome}, not ${expected ?? "refused"}`];
    }),
  );
}
