import { parse } from "yaml";
import { startOnnxRuntime } from "../../../adapters/onnx/run-onnx";
import { applier } from "../../../api/export/applier";
import { checkRowsOf } from "../../../api/export/check-rows";
import { type ExportManifest, exportVersion, listExports } from "../../../api/export/export-version";
import { transformDocument } from "../../../api/export/transform-document";
import { exportTools } from "../../../api/services/export-tools";
import type { ColumnSchema } from "../../../core/datasets/shapes";
import { exportFormats, type ModelArtifact } from "../../../core/evaluation/model-artifact";
import { taskOf } from "../../../core/features/encoding";
import { createRowTransform } from "../../../core/features/transform";
import { storeArtifact } from "../../../core/registry/artifact";
import type { Job } from "../../../core/runs/job";
import type { ModuleDefinition } from "../../../core/runs/model-definition";
import type { CachedOutput, StepCache } from "../../../core/runs/run-repository";
import type { ModelContext } from "../../../trainer-container/engine/define-training";
import { columns, fitted, labels, mixedRows, planned, registered } from "../../support/exportable";
import { createMemoryObjectStore } from "../s3/memory-object-store";

const clock = { now: () => 0 };
const networks = exportFormats.filter((format) => format !== "sql");
/** Formats of which each has code of its own for every column and answer. The others contain files of these. */
const distinct = ["onnx", "savedmodel", "tfjs"] as const;
/** The thread of onnxruntime, which all tests share because it starts slowly. */
const runtime = startOnnxRuntime();
const sharing = { ...exportTools, startOnnxRuntime: () => ({ run: runtime.run, close: async () => undefined }) };
const tools = async () => sharing;
afterAll(() => runtime.close());

function memoryCache(): StepCache {
  const kept = new Map<string, CachedOutput>();
  return {
    find: async (step, hash) => kept.get(`${step}#${hash}`),
    async keep(step, hash, output) {
      if (!kept.has(`${step}#${hash}`)) kept.set(`${step}#${hash}`, output);
      return kept.get(`${step}#${hash}`)!;
    },
  };
}

/** A version of a network for these features. */
async function worldOf(
  features: Awaited<ReturnType<typeof fitted>> | Awaited<ReturnType<typeof planned>>,
  model: Parameters<typeof registered>[3] = { hidden: [7] },
  schema: readonly ColumnSchema[] = columns,
) {
  const objects = createMemoryObjectStore();
  const put = jest.fn(async () => undefined);
  const version = await registered(objects, schema, features, model);
  const dependencies = { objects, artifacts: { putProduced: put }, cache: memoryCache(), clock };
  const text = (manifest: ExportManifest, path: string): string => new TextDecoder().decode(bytes(manifest, path));
  const bytes = (manifest: ExportManifest, path: string): Uint8Array =>
    objects.objects.get(`cas/sha256/${manifest.files.find((file) => file.path === path)!.sha256}`)!;
  return { objects, put, version, dependencies, bytes, text };
}

const world = async (task: keyof typeof labels) => worldOf(await fitted([...columns, labels[task]], mixedRows));

const largestDifference = (manifest: ExportManifest) =>
  Math.max(...manifest.files.map(({ difference = 0 }) => difference));

const embedding = (inputShape: readonly number[], inputDim: number): ModuleDefinition => ({
  type: "module",
  inputShape,
  outputs: 3,
  task: "classification",
  factory: ({ tf: { sequential, layers } }: ModelContext) =>
    sequential({
      layers: [
        layers.embedding({ inputDim, outputDim: 2, inputShape: [...inputShape] }),
        layers.flatten(),
        layers.dense({ units: 3 }),
      ],
    }),
});

const evaluatedApplier = () =>
  new Function(`${applier.replaceAll("export function", "function")}; return { toInputs, toAnswers };`)() as {
    toInputs(document: unknown, rows: unknown): Float32Array;
    toAnswers(document: unknown, outputs: Float32Array): readonly { label: unknown; probabilities: number[] }[];
  };

describe("exports", () => {
  it.each(["classification", "binary", "regression"] as const)(
    "of every kind of column compute what the platform computes: %s",
    async (task) => {
      const { dependencies, version } = await world(task);
      const formats = task === "classification" ? networks : distinct;
      for (const format of formats) {
        const { files, check } = (await exportVersion(dependencies, tools, version, format)).manifest;
        expect(check).toEqual({ rows: 64, tolerance: 1e-5 });
        const run = files.filter(({ difference }) => difference !== undefined);
        // A SavedModel's graph is run as ONNX; its own file is not run.
        expect(run.length).toBe({ onnx: 2, safetensors: 1, tfjs: 1, mlflow: 1, savedmodel: 0 }[format]);
        for (const { difference } of run) expect(difference).toBeLessThan(1e-6);
      }
      expect(new Set((await listExports(dependencies, version)).map(({ format }) => format))).toEqual(new Set(formats));
    },
    60_000,
  );

  it.each<Partial<Job["features"]>>([
    { columns: { island: { encode: "top-k", k: 2 }, probabilities: { encode: "top-k", k: 3 } }, pieces: 3 },
    { columns: { island: { encode: "hash", buckets: 5 }, wheels: { encode: "one-hot" } } },
  ])(
    "of chosen encodings compute what the platform computes: %j",
    async (settings) => {
      // Three pieces need 96 rows.
      const fittedRows = Array.from({ length: 5 }, () => mixedRows).flat();
      const features = await fitted([...columns, labels.binary], fittedRows, settings);
      expect(features.transform.outputs.filter(({ kind }) => kind === "piecewise")).toHaveLength(
        settings.pieces ? 1 : 0,
      );
      const { version, dependencies } = await worldOf(features);
      for (const format of distinct) {
        const exported = exportVersion(dependencies, tools, version, format);
        if (format === "savedmodel" && settings.columns?.["island"]?.encode === "hash") {
          await expect(exported).rejects.toThrow(/operator MurmurHash3 cannot be exported as a SavedModel/);
          continue;
        }
        expect(largestDifference((await exported).manifest)).toBeLessThan(1e-6);
      }
      const rows = [
        ...mixedRows,
        ...["", "Äpfel", "日本語 ✓", "abc", "𝄞"].map((island) => ({ ...mixedRows[1], island })),
      ];
      const artifact = { ...features, inputSchema: columns } as unknown as ModelArtifact;
      expect(evaluatedApplier().toInputs(transformDocument(artifact), rows)).toEqual(
        createRowTransform(features.transform, columns).apply(rows),
      );
    },
    60_000,
  );

  it("of a plan compute what the platform computes; a hash is only in formats whose steps are JavaScript", async () => {
    for (const more of [[], [{ kind: "hash", column: "island", buckets: 5 }]]) {
      const features = await planned("binary", more);
      const { version, dependencies, text } = await worldOf(features);
      for (const format of networks) {
        const exported = exportVersion(dependencies, tools, version, format);
        if (more.length > 0 && format !== "tfjs" && format !== "safetensors") {
          await expect(exported).rejects.toMatchObject({ code: "EXPORT_UNSUPPORTED", httpStatus: 409 });
          continue;
        }
        const { manifest } = await exported;
        expect(largestDifference(manifest)).toBeLessThan(1e-6);
        if (format !== "mlflow") continue;
        const { signature } = parse(text(manifest, "MLmodel")) as { signature: { inputs: string } };
        const names = ["Beak (mm)", "probabilities", "wheels", "island", "wet", "seen"]; // the raw columns that steps read
        expect((JSON.parse(signature.inputs) as { name: string }[]).map(({ name }) => name)).toEqual(names);
        expect(JSON.parse(text(manifest, "input_example.json"))).toMatchObject({ columns: names });
      }
      const artifact = { ...features, inputSchema: columns } as unknown as ModelArtifact;
      const document = JSON.parse(JSON.stringify(transformDocument(artifact))) as object;
      const expected = createRowTransform(features.transform, columns).apply(mixedRows);
      expect(evaluatedApplier().toInputs(document, mixedRows)).toEqual(expected);
    }
  }, 60_000);

  it("are the same bytes each time, and created once", async () => {
    const [first, second] = [await world("binary"), await world("binary")];
    const manifests = [];
    for (const { dependencies, version } of [first, second])
      manifests.push(await exportVersion(dependencies, tools, version, "onnx"));
    expect(manifests[1]).toEqual(manifests[0]);
    const never = () => Promise.reject(new Error("made again"));
    expect(await exportVersion(first.dependencies, never, first.version, "onnx")).toEqual(manifests[0]);
    expect(first.put).toHaveBeenCalledTimes(1);
    expect(first.put).toHaveBeenCalledWith(
      "run-0123456789abcdef",
      expect.arrayContaining([
        expect.objectContaining({ path: "exports/onnx/model.onnx", updatedAt: "1970-01-01T00:00:00.000Z" }),
      ]),
    );
  });

  it("as ONNX take raw rows: missing, unknown and large values, names that outputs have too", async () => {
    const { dependencies, version, bytes } = await world("classification");
    const { manifest } = await exportVersion(dependencies, tools, version, "onnx");
    const column = (name: string, type: "double" | "string" | "float", data: never, dims = [3, 1]) => ({
      [name]: { type, data, dims },
    });
    const found = await runtime.run(bytes(manifest, "model.onnx"), {
      ...column("Beak (mm)", "double", Float64Array.of(40.5, Number.NaN, 3) as never),
      ...column("probabilities", "double", Float64Array.of(1e9, 1e9 + 1, 1e9 + 2) as never),
      ...column("wheels", "double", Float64Array.of(4, 3, 2) as never),
      ...column("island", "string", ["Torgersen ✓", "?", ""] as never),
      ...column("wet", "double", Float64Array.of(1, Number.NaN, 0) as never),
      ...column(
        "seen",
        "double",
        Float64Array.of(Date.UTC(2024, 1, 29, 23, 59), Number.NaN, Date.UTC(1969, 11, 31, 1)) as never,
      ),
      ...column(
        "patch",
        "float",
        Float32Array.of(1, 2, 3, 4, ...Array(4).fill(Number.NaN), 255, 0, 0, 9) as never,
        [3, 2, 2],
      ),
    });

    const artifact = JSON.parse(
      new TextDecoder().decode(dependencies.objects.objects.get(version.artifactKey!)),
    ) as ModelArtifact;
    const rows = [
      {
        "Beak (mm)": 40.5,
        probabilities: 1e9,
        wheels: 4,
        island: "Torgersen ✓",
        wet: true,
        seen: "2024-02-29T23:59:00Z",
        patch: [1, 2, 3, 4],
      },
      { "Beak (mm)": null, probabilities: 1e9 + 1, wheels: 3, island: null, wet: null, seen: null, patch: null },
      {
        "Beak (mm)": 3,
        probabilities: 1e9 + 2,
        wheels: 2,
        island: "",
        wet: false,
        seen: "1969-12-31T01:00:00Z",
        patch: [255, 0, 0, 9],
      },
    ];
    const dense = createRowTransform(artifact.transform, artifact.inputSchema).apply(rows);
    const model = await exportTools.loadModel({
      topology: new TextDecoder().decode(await dependencies.objects.getContent(artifact.topology.sha256)),
      weights: await dependencies.objects.getContent(artifact.weights.sha256),
    });
    const expected = model.predict(dense, 3);
    model.dispose();
    const probabilities = found["probabilities_"]!.data as Float32Array;
    for (const [i, value] of expected.entries()) expect(probabilities[i]).toBeCloseTo(value, 6);
    const best = [0, 1, 2].map((row) => {
      const own = [...expected.subarray(row * 3, row * 3 + 3)];
      return ["a", "b", "c"][own.indexOf(Math.max(...own))];
    });
    expect(found["label"]!.data).toEqual(best);
  });

  it("as SavedModel have the graph's signature", async () => {
    const { dependencies, version, bytes, text } = await world("binary");
    const { manifest } = await exportVersion(dependencies, tools, version, "savedmodel");
    const paths = ["saved_model.pb", "metadata.json", "transform.json", "examples.json"];
    expect(manifest.files.map(({ path }) => path)).toEqual(paths);
    const metadata = JSON.parse(text(manifest, "metadata.json"));
    expect(metadata).toMatchObject({ model: "m", missing_text: "?", classes: [false, true] });
    expect(metadata.columns).toContainEqual({ input: "patch", column: "patch", type: "float", shape: [2, 2] });
    const file = Buffer.from(bytes(manifest, "saved_model.pb")).toString("latin1");
    for (const name of ["serving_default", "Beak (mm)", "probabilities_", "label"]) expect(file).toContain(name);
  });

  it("as SavedModel are refused if the graph computes other values", async () => {
    const { dependencies, version } = await world("regression");
    const run: typeof runtime.run = async (...args) => {
      const { value } = await runtime.run(...args);
      return { value: { ...value!, data: (value!.data as Float32Array).map((each) => each + 1e-3) } };
    };
    const wrong = { ...sharing, startOnnxRuntime: () => ({ run, close: async () => undefined }) };
    const attempt = exportVersion(dependencies, async () => wrong, version, "savedmodel");
    await expect(attempt).rejects.toMatchObject({ code: "EXPORT_DIFFERS" });
    expect(await listExports(dependencies, version)).toEqual([]);
  });

  it("contain an applier that computes bit-identical inputs", async () => {
    const { dependencies, version, objects, text } = await world("classification");
    const { manifest } = await exportVersion(dependencies, tools, version, "tfjs");
    expect(text(manifest, "transform.mjs")).toBe(applier);
    const document = JSON.parse(text(manifest, "transform.json"));
    const evaluated = evaluatedApplier();
    const artifact = JSON.parse(new TextDecoder().decode(objects.objects.get(version.artifactKey!))) as ModelArtifact;
    const check = checkRowsOf(artifact, { network: { layers: [] }, predict: () => new Float32Array(0) } as never);
    expect(evaluated.toInputs(document, check.rows)).toEqual(check.dense);
    expect(evaluated.toAnswers(document, Float32Array.of(0, Math.log(3), Math.log(4)))).toEqual([
      { label: "c", probabilities: [expect.closeTo(1 / 8), expect.closeTo(3 / 8), expect.closeTo(1 / 2)] },
    ]);
  });

  it("predict the class that the model decides for, of two", async () => {
    const schema = [{ name: "x", type: "float", role: "feature" }] as const;
    const rows = Array.from({ length: 8 }, (_, i) => ({ x: i, late: i % 2 === 0 }));
    const features = await fitted([...schema, labels.binary], rows);
    const { version, dependencies, objects } = await worldOf(features, { hidden: [] }, schema);
    const artifact = JSON.parse(new TextDecoder().decode(objects.objects.get(version.artifactKey!))) as ModelArtifact;
    const x = Float64Array.of(-3, -1, 0.2, 1, 2, 4, 7);
    const labelsAbove = async (threshold: number) => {
      const decision = { positive: false, threshold };
      const artifactKey = await storeArtifact(objects, { ...artifact, decision });
      const { manifest } = await exportVersion(dependencies, tools, { ...version, artifactKey }, "onnx");
      const file = manifest.files.find(({ path }) => path === "model.onnx")!;
      const model = objects.objects.get(`cas/sha256/${file.sha256}`)!;
      const { label, probabilities } = await runtime.run(model, { x: { type: "double", data: x, dims: [7, 1] } });
      const first = [...(probabilities!.data as Float32Array)].filter((_, i) => i % 2 === 0);
      const logits = Float32Array.from(first, (one) => Math.log((1 - one) / one));
      const answers = evaluatedApplier().toAnswers(transformDocument({ ...artifact, decision }), logits);
      const named = answers.map((one) => one.label);
      const found = [...(label!.data as Uint8Array)].map(Boolean);
      expect(named).toEqual(found);
      expect(found).toEqual(first.map((one) => !(one > threshold)));
      return found.filter((one) => !one).length;
    };
    const counts = [await labelsAbove(0.2), await labelsAbove(0.5), await labelsAbove(0.8)];
    expect(counts).toEqual([...counts].sort((a, b) => b - a));
    expect(counts[0]).toBeGreaterThan(counts[2]!);
  });

  it.each([
    ["a column", { name: "id", type: "int", role: "feature" }, 12],
    ["a column with a minimum", { name: "id", type: "int", role: "feature", minimum: 1 }, 3],
    ["a column of one id", { name: "id", type: "int", role: "feature" }, 1],
    ["a tensor", { name: "id", type: "tensor", shape: [3], role: "feature" }, 12],
  ] as const)("are checked with ids that an embedding has, of %s without bounds", async (_, column, inputDim) => {
    const rows = Array.from({ length: 6 }, (_, i) => ({
      id: column.type === "int" ? 1 : Array(3).fill(i % 2),
      kind: "abc"[i % 3],
    }));
    const features = await fitted([column, labels.classification], rows, { standardize: false });
    const { version, dependencies } = await worldOf(features, embedding(features.transform.shape, inputDim), [column]);
    expect((await exportVersion(dependencies, tools, version, "onnx")).manifest.check.rows).toBeGreaterThan(0);
  });

  it("are refused if the schema permits ids that an embedding lacks", async () => {
    const column = { name: "id", type: "int", role: "feature", minimum: 1, maximum: 5 } as const;
    const rows = Array.from({ length: 6 }, (_, i) => ({ id: 1, kind: "abc"[i % 3] }));
    const features = await fitted([column, labels.classification], rows, { standardize: false });
    const { version, dependencies } = await worldOf(features, embedding(features.transform.shape, 1), [column]);
    await expect(exportVersion(dependencies, tools, version, "safetensors")).rejects.toMatchObject({
      code: "EXPORT_UNSUPPORTED",
      message: expect.stringMatching(/is not in \[0, 0\]; give the columns of ids a minimum and a maximum/),
    });
  });

  it("are built from the version's row, not from the run's current files", async () => {
    const { dependencies, version, objects } = await world("regression");
    const evil = JSON.stringify({ format: "tfjs", files: [{ path: "model.json", sha256: "0".repeat(64), bytes: 1 }] });
    const key = "runs/run-0123456789abcdef/exports/tfjs-1.json";
    await objects.put(key, evil);
    const made = await exportVersion(dependencies, tools, version, "tfjs");
    expect(made.manifest.files.map(({ path }) => path)).toContain("group1-shard1of1.bin");
    await objects.put(key, evil);
    expect(await exportVersion(dependencies, tools, version, "tfjs")).toEqual(made);
    expect(await listExports(dependencies, version)).toEqual([made.manifest]);
    const content = `cas/sha256/${made.stored.sha256}`;
    await objects.put(content, evil);
    await expect(exportVersion(dependencies, tools, version, "tfjs")).rejects.toMatchObject({ code: "CORRUPT_OBJECT" });
    await expect(listExports(dependencies, version)).rejects.toMatchObject({ code: "CORRUPT_OBJECT" });
  });

  it("are refused if a file computes other values", async () => {
    const { dependencies, version } = await world("regression");
    const wrong = {
      ...exportTools,
      runLayersModel: async (...args: Parameters<typeof exportTools.runLayersModel>) =>
        (await exportTools.runLayersModel(...args)).map((value) => value + 1e-3),
    };
    const attempt = exportVersion(dependencies, async () => wrong, version, "tfjs");
    await expect(attempt).rejects.toMatchObject({ code: "EXPORT_DIFFERS" });
    expect(await listExports(dependencies, version)).toEqual([]);
  });

  type Layers = ModelContext["tf"]["layers"];
  type Made = Parameters<ReturnType<ModelContext["tf"]["sequential"]>["add"]>[0];
  const around = (layers: Layers, targetShape: number[], layer: Made): Made[] => [
    layers.reshape({ targetShape }),
    layer,
    layers.flatten(),
  ];
  it.each<[string, (layers: Layers) => Made[]]>([
    ["Gelu", (layers) => [layers.gelu({ name: "mine" })]],
    ["gelu_new", (layers) => [layers.activation({ name: "mine", activation: "gelu_new" as never })]],
    [
      "Conv1D",
      (layers) => around(layers, [4, 1], layers.conv1d({ name: "mine", filters: 2, kernelSize: 2, padding: "causal" })),
    ],
    ["Resizing", (layers) => around(layers, [2, 2, 1], layers.resizing({ name: "mine", height: 3, width: 3 }))],
    [
      "DepthwiseConv2D",
      (layers) =>
        around(layers, [4, 1, 1], layers.depthwiseConv2d({ name: "mine", kernelSize: [2, 1], dilationRate: [2, 1] })),
    ],
  ])(
    "are refused for stock TensorFlow.js if it cannot read a layer: %s",
    async (named, create) => {
      const features = await fitted([...columns, labels.binary], mixedRows);
      const inputShape = features.transform.shape;
      const factory = ({ tf: { sequential, layers }, outputs }: ModelContext) =>
        sequential({
          layers: [
            sequential({
              layers: [layers.dense({ units: 4, inputShape: [...inputShape] }), ...create(layers)],
            }),
            layers.dense({ units: outputs }),
          ],
        });
      const module = { type: "module", inputShape, ...taskOf(features.label), factory } as unknown as ModuleDefinition;
      const { version, dependencies } = await worldOf(features, module);
      await expect(exportVersion(dependencies, tools, version, "tfjs")).rejects.toMatchObject({
        code: "EXPORT_UNSUPPORTED",
        message: expect.stringMatching(
          new RegExp(`^the layer 'mine' \\(${named}\\) cannot be exported for TensorFlow.js: .*onnx, savedmodel`),
        ),
      });
    },
    60_000,
  );

  it.each([
    [
      "a version that was logged from elsewhere",
      { artifactKey: undefined, runId: undefined },
      /no artifact of a training run/,
    ],
    ["an artifact that is not there", { artifactKey: "nowhere" }, /no artifact/],
  ])("are refused of %s", async (_name, change, message) => {
    const { dependencies, version } = await world("regression");
    const attempt = exportVersion(dependencies, tools, { ...version, ...change } as typeof version, "onnx");
    await expect(attempt).rejects.toMatchObject({ code: "NOTHING_TO_EXPORT", message: expect.stringMatching(message) });
  });
});
