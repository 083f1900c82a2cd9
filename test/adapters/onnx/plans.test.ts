import fc from "fast-check";
import { startOnnxRuntime } from "../../../adapters/onnx/run-onnx";
import { applier } from "../../../api/export/applier";
import { GraphBuilder } from "../../../api/export/onnx/builder";
import { addFeatures, missingText } from "../../../api/export/onnx/features-graph";
import { encodeOnnx } from "../../../api/export/onnx/file";
import { toSavedModelFile } from "../../../api/export/to-saved-model";
import { transformDocument } from "../../../api/export/transform-document";
import type { ColumnSchema } from "../../../core/datasets/shapes";
import { hasCode, InvalidInputError } from "../../../core/errors";
import type { ModelArtifact } from "../../../core/evaluation/model-artifact";
import type { OnnxInput } from "../../../core/export";
import { canonicalText } from "../../../core/feature-plans/compile";
import { plannedTransform } from "../../../core/features/planned-rows";
import type { FeatureTransform } from "../../../core/features/shapes";
import { createRowTransform, type RawRow } from "../../../core/features/transform";
import { fitRows, planOf } from "../../core/feature-plans/engines";
import { columns, finite, plans, rowOf, view } from "../../core/feature-plans/random-plans";
import { rounds } from "../../support/rounds";

const runtime = startOnnxRuntime();
afterAll(() => runtime.close());

const schema: readonly ColumnSchema[] = columns.map((column) => ({ ...column, role: "feature", nullable: true }));
/** Kinds of steps whose functions of text ONNX lacks. */
const inexpressible = ["hash", "length", "ngrams"];

function graphOf(transform: FeatureTransform) {
  const builder = new GraphBuilder();
  const { dense, inputs } = addFeatures(builder, transform, schema);
  builder.output("dense", dense, "float", ["rows", transform.width]);
  return { graph: builder.finish("features", {}), inputs };
}

async function runGraph(transform: FeatureTransform, rows: readonly RawRow[]): Promise<Float32Array> {
  const { graph, inputs } = graphOf(transform);
  // TensorFlow has each operator of the graph.
  expect(toSavedModelFile(graph).length).toBeGreaterThan(0);
  const missing = missingText(transform);
  const feeds = inputs.map(({ input, column, type }): [string, OnnxInput] => {
    const values = rows.map((row) => row[column] ?? null);
    const data =
      type === "string"
        ? values.map((value) => (value === null ? missing : canonicalText(value as string)))
        : Float64Array.from(values, (value) => (value === null ? Number.NaN : Number(value)));
    return [input, { type: type as "double", data, dims: [rows.length, 1] }];
  });
  return (await runtime.run(encodeOnnx(graph), Object.fromEntries(feeds)))["dense"]!.data as Float32Array;
}

/** Rows without U+0000, at which onnxruntime for WebAssembly ends a text. */
const rows = fc.array(
  rowOf(finite).map((row) => ({ ...row, s: (row["s"] as string | null)?.replaceAll("\0", "") ?? null })),
  { minLength: 1, maxLength: 12 },
);

const { toInputs } = new Function(`${applier.replaceAll("export function", "function")}; return { toInputs };`)() as {
  toInputs(document: unknown, rows: readonly RawRow[]): Float32Array;
};

function expectClose(found: Float32Array, expected: Float32Array): void {
  expect(found).toHaveLength(expected.length);
  const isClose = (value: number, i: number) =>
    Object.is(value, found[i]) || Math.abs(value - found[i]!) <= 1e-6 * Math.max(1, Math.abs(value));
  if (!expected.every(isClose)) expect([...found]).toEqual([...expected]);
}

function isAccepted(apply: () => unknown): boolean {
  try {
    apply();
    return true;
  } catch (error) {
    if (error instanceof InvalidInputError && error.message.includes("the range of float32")) return false;
    throw error;
  }
}

describe("an exported plan", () => {
  it("makes the features of random rows like the platform, in ONNX if it has the functions, and in JavaScript", async () => {
    let [exported, refused] = [0, 0];
    const property = fc.asyncProperty(
      plans.map((steps) => steps.filter((step) => (step as { kind: string }).kind !== "window")),
      rows,
      rows,
      async (steps, training, others) => {
        fc.pre(steps.length > 0);
        const plan = await fitRows(planOf(steps, view), columns, training).catch(() => undefined);
        fc.pre(plan !== undefined);
        const transform = plannedTransform(plan!);
        fc.pre(transform.width > 0);
        const { apply } = createRowTransform(transform, schema);
        // The platform refuses rows whose features are infinite in float32.
        const all = [...training, ...others].filter((row) => isAccepted(() => apply([row])));
        const expected = apply(all);
        const artifact = { transform, inputSchema: schema, label: { kind: "value", column: "y" } };
        const document = JSON.parse(JSON.stringify(transformDocument(artifact as unknown as ModelArtifact))) as object;
        expectClose(toInputs(document, all), expected);
        try {
          expectClose(await runGraph(transform, all), expected);
          exported += 1;
        } catch (error) {
          if (!hasCode(error, "EXPORT_UNSUPPORTED")) throw error;
          expect(error.message).toMatch(/\((hash|length|ngrams|cross)\) cannot be exported to ONNX/);
          refused += 1;
        }
      },
    );
    await fc.assert(property, { numRuns: rounds(25, 1_000), seed: 18 });
    expect(exported).toBeGreaterThan(8);
    expect(refused).toBeGreaterThan(0);
  });

  it.each(inexpressible)("is refused by ONNX with the feature and its kind: %s", async (kind) => {
    const steps = [
      { kind: "number", column: "i" },
      { kind, column: "s", name: "mine", ...(kind === "length" ? {} : { buckets: 4 }) },
    ];
    const transform = plannedTransform(await fitRows(planOf(steps), columns, [{ i: 1, s: "a" }]));
    const feature = kind === "ngrams" ? "mine_0" : "mine";
    expect(() => graphOf(transform)).toThrow(
      `the feature '${feature}' (${kind}) cannot be exported to ONNX or as a SavedModel: ONNX has no such function of texts; export the formats tfjs, safetensors or sql, which take any plan`,
    );
  });
});
