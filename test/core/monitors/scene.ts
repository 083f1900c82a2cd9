import type * as z from "zod";
import type { DatasetManifest } from "../../../core/datasets/shapes";
import { placeOfUnit } from "../../../core/drift/inference-batch";
import { logInferences } from "../../../core/drift/inference-log";
import type { LoggedRow } from "../../../core/drift/shapes";
import type { ModelArtifact } from "../../../core/evaluation/model-artifact";
import type { EvaluationReport } from "../../../core/evaluation/report";
import { encodePredictions } from "../../../core/evaluation/stored-predictions";
import type { RowSource } from "../../../core/features/values";
import type { EvaluateDependencies } from "../../../core/monitors/evaluate";
import { createMonitor } from "../../../core/monitors/lifecycle";
import { monitorDefinition } from "../../../core/monitors/shapes";
import { storeArtifact } from "../../../core/registry/artifact";
import { createTestPlatform, type Embedded } from "../../support/embedded";
import { resultOf } from "../../support/fixtures";
import { draftOf } from "../datasets/drafts";
import { memoryRows } from "../features/memory-rows";

export const minute = 60_000;
const schema = [
  { name: "x", type: "float", role: "feature" },
  { name: "y", type: "int", role: "label", values: [0, 1] },
] as const;
const trainedRows = 400;
const trained = (shift: number) =>
  Array.from({ length: trainedRows }, (_row, i) => ({ x: ((i * 37) % 100) + shift, y: i % 2 }));

/** A team with a dataset, and a model whose versions 1 and 2 were trained on it. Rows of version n begin at 1,000 (n − 1). */
export async function createScene(embedded: Embedded, team: string) {
  const { platform, calls } = createTestPlatform(embedded);
  const clock = { time: Date.parse("2026-01-01T12:00:00.000Z"), now: () => clock.time };
  const scoped = { ...platform.forTeam(team), clock };
  const { objects, registry, datasets } = scoped;
  /** Shifts of the rows by dataset version. */
  const shifts = new Map<number, number>();

  async function push(shift: number): Promise<DatasetManifest> {
    clock.time += minute;
    const draft = { ...draftOf("shop", `${team} ${shifts.size}`, schema), rowCount: trainedRows };
    const { version } = await datasets.register(draft, { at: new Date(clock.time).toISOString() });
    shifts.set(version.manifest.version, shift);
    return version.manifest;
  }
  const { version: first, digest } = await push(0);

  const labels = Int32Array.from({ length: 100 }, (_row, i) => i % 2);
  const outputs = Float32Array.from(labels, (label) => (label === 1 ? 0.9 : 0.1));
  const predictions = await objects.putContent(encodePredictions({ classes: 2, labels, outputs }));
  const scores = { support: 1, precision: 1, recall: 1, f1: 1 };
  const report: EvaluationReport = {
    ...{
      dataset: { name: "shop", version: first, digest },
      split: "test",
      rows: labels.length,
      label: "y",
      metrics: {},
      task: "balanced",
    },
    ...{ predictions, classes: [0, 1].map((value) => ({ value, ...scores })), slices: [] },
  };
  const evaluationReport = await objects.putContent(JSON.stringify(report));
  const by = { by: "ada", at: new Date(clock.time).toISOString() };
  for (const version of [1, 2]) {
    const weightsSha256 = String(version).repeat(64);
    const outputsOf = [
      { kind: "numeric", column: "x", offset: 0, width: 1, source: 0, mean: 0, deviation: 1 },
    ] as const;
    const { weights, topology, numerics } = resultOf("run-1");
    const artifact: ModelArtifact = {
      ...{ format: 1, runId: "run-1", model: "toys", weights, topology, numerics, weightsSha256 },
      label: { kind: "class", column: "y", classes: [0, 1] },
      transform: { outputs: outputsOf, width: 1, shape: [1] },
      inputSchema: [],
      outputSchema: { kind: "probabilities", classes: [0, 1] },
    };
    const artifactKey = await storeArtifact(objects, artifact);
    const dataset = { name: "shop", version: first, digest };
    const made = {
      model: "toys",
      metrics: {},
      submittedBy: "ada",
      weightsSha256,
      artifactKey,
      dataset,
      evaluationReport,
    };
    await registry.register(team, made, by, { request: `make-${version}` });
  }

  const dependencies: EvaluateDependencies = {
    ...scoped,
    events: scoped.runEvents,
    withRows: (manifest, work) => work(memoryRows(trained(shifts.get(manifest.version) ?? 0), 100) as RowSource),
  };
  let units = 0;
  return {
    platform: scoped,
    dependencies,
    clock,
    calls,
    push,
    create: (definition: z.input<typeof monitorDefinition>) =>
      createMonitor(scoped, monitorDefinition.parse(definition), "ada"),
    /** Rows as of the training, moved by a shift. */
    rows: (count: number, shift = 0): LoggedRow[] =>
      Array.from({ length: count }, (_row, i) => {
        units += 1;
        const at = new Date(clock.time - 1_000 + i).toISOString();
        return { unit: `unit-${units}`, at, row: { x: ((i * 37) % 100) + shift }, prediction: i % 2 };
      }),
    log(rows: readonly LoggedRow[], version = 1) {
      clock.time += minute;
      return logInferences(scoped, { model: "toys", version }, rows, 1);
    },
    windows: async (name: string) => [...(await scoped.monitors.listWindows(name, { limit: 200 })).items].reverse(),
    inSample: (rows: readonly LoggedRow[], rate: number) => rows.filter(({ unit }) => placeOfUnit(unit) < rate).length,
  };
}

export type Scene = Awaited<ReturnType<typeof createScene>>;
