import type {
  CheckRows,
  ExportedFile,
  Exporter,
  ExportSource,
  OnnxData,
  OnnxInput,
  OnnxRuntime,
  OnnxTensor,
} from "../../core/export";
import { taskOf } from "../../core/features/encoding";
import { addAnswer, addNetworkAnswer } from "./onnx/answer-graph";
import { GraphBuilder } from "./onnx/builder";
import { addFeatures, missingText } from "./onnx/features-graph";
import { encodeOnnx, type OnnxGraph } from "./onnx/file";
import { addNetwork } from "./onnx/network-graph";
import type { RawInput } from "./onnx/parts";
import { checkParity } from "./parity";
import { documents, probabilitiesOf } from "./transform-document";

const contentType = "application/octet-stream";

/** Exports `model.onnx` (raw rows to answers) and `network.onnx` (dense inputs to logits and probabilities). */
export const toOnnx: Exporter = async (source) => {
  const network = networkAlone(source);
  const runtime = source.tools.startOnnxRuntime();
  try {
    return [
      await checkedModel(source, runtime),
      { path: "network.onnx", contentType, body: network, difference: await checkNetwork(source, network, runtime) },
      ...documents(source),
    ];
  } finally {
    await runtime.close();
  }
};

export async function checkedModel(source: ExportSource, runtime: OnnxRuntime): Promise<ExportedFile> {
  const { file, difference } = await checkedGraph(source, runtime);
  return { path: "model.onnx", contentType, body: file, difference };
}

export async function checkedGraph(
  source: ExportSource,
  runtime: OnnxRuntime,
): Promise<WholeModel & { readonly difference: number }> {
  const whole = wholeModel(source);
  return { ...whole, difference: await checkWhole(source, whole, runtime) };
}

interface WholeModel {
  readonly graph: OnnxGraph;
  readonly file: Uint8Array;
  readonly inputs: readonly RawInput[];
  readonly answer: ReturnType<typeof addAnswer>;
}

function wholeModel({ artifact, model }: Pick<ExportSource, "artifact" | "model">): WholeModel {
  const builder = new GraphBuilder();
  const { dense, inputs } = addFeatures(builder, artifact.transform, artifact.inputSchema);
  const answer = addAnswer(builder, addNetwork(builder, model.network, dense), artifact);
  const described = { columns: JSON.stringify(inputs), missing_text: missingText(artifact.transform) };
  const graph = builder.finish("model", metadataOf(artifact, described));
  return { graph, file: encodeOnnx(graph), inputs, answer };
}

function networkAlone({ artifact, model }: ExportSource): Uint8Array {
  const builder = new GraphBuilder();
  const input = builder.input("input", "float", ["rows", ...artifact.transform.shape]);
  const { task, outputs } = taskOf(artifact.label);
  addNetworkAnswer(builder, addNetwork(builder, model.network, input), task, outputs);
  return encodeOnnx(builder.finish("network", metadataOf(artifact, {})));
}

type Metadata = Readonly<Record<string, string>>;

function metadataOf(artifact: ExportSource["artifact"], more: Metadata): Metadata {
  const { runId, weightsSha256, model, label } = artifact;
  const classes: Metadata = label.kind === "class" ? { classes: JSON.stringify(label.classes) } : {};
  return { model, run: runId, weights_sha256: weightsSha256, ...classes, ...more };
}

async function checkWhole(
  { artifact, check }: ExportSource,
  { file, inputs, answer }: WholeModel,
  runtime: OnnxRuntime,
): Promise<number> {
  const missing = missingText(artifact.transform);
  const feeds = Object.fromEntries(inputs.map((each) => [each.input, feedOf(each, check, missing)]));
  const outputs = await runtime.run(file, feeds);
  const rows = check.rows.length;
  if (answer.value !== undefined)
    return checkParity("model.onnx", numbers(outputs[answer.value]!), check.predicted, rows);
  const width = check.predicted.length / rows;
  const expected = check.rows.flatMap((_, i) =>
    probabilitiesOf([...check.predicted.subarray(i * width, (i + 1) * width)]),
  );
  return checkParity("model.onnx", numbers(outputs[answer.probabilities!]!), expected, rows);
}

async function checkNetwork(
  { artifact, check }: ExportSource,
  file: Uint8Array,
  runtime: OnnxRuntime,
): Promise<number> {
  const rows = check.rows.length;
  const dims = [rows, ...artifact.transform.shape];
  const outputs = await runtime.run(file, { input: { type: "float", data: check.dense, dims } });
  const answer = outputs["probabilities"] ?? outputs["value"];
  return checkParity("network.onnx", numbers(answer!), check.predicted, rows);
}

function numbers({ data }: OnnxTensor): Float32Array {
  return data as Float32Array;
}

function feedOf({ column, type, shape }: RawInput, { rows }: CheckRows, missing: string): OnnxInput {
  const values = rows.map((row) => row[column]);
  const dims = [rows.length, ...shape];
  const width = shape.reduce((product, side) => product * side, 1);
  const each = (): readonly number[] =>
    values.flatMap((value) => (value === null ? Array<number>(width).fill(Number.NaN) : (value as number | number[])));
  const data: OnnxData =
    type === "string"
      ? values.map((value) => (value as string | null) ?? missing)
      : type === "float"
        ? Float32Array.from(each())
        : Float64Array.from(each(), Number);
  return { type, data, dims };
}
