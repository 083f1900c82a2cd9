import { stringify } from "yaml";
import { isNullable } from "../../core/datasets/rules";
import type { ColumnSchema } from "../../core/datasets/shapes";
import type { ExportedFile, Exporter, ExportSource } from "../../core/export";
import { inputColumns } from "../../core/features/planned-rows";
import type { LabelEncoding } from "../../core/features/shapes";
import type { RawRow } from "../../core/features/transform";
import { loaderModule, loaderSource } from "./mlflow/loader";
import { checkedModel } from "./to-onnx";
import { documents } from "./transform-document";

/** The MLflow release that `test/peers/mlflow-load.py` uses to load the directory. */
const mlflowVersion = "3.17.0";
const pythonVersion = "3.11.0";
/** The packages that the loader imports. `mlflow.onnx.load_model` needs `onnx` as well. */
const requirements = ["mlflow>=2.20", "numpy", "onnxruntime>=1.14", "pandas>=2.0"];
const exampleFile = "input_example.json";

/** Exports a directory that `mlflow.pyfunc.load_model` and `mlflow.onnx.load_model` read. */
export const toMlflow: Exporter = async (source) => {
  const runtime = source.tools.startOnnxRuntime();
  try {
    const text = (path: string, body: string): ExportedFile => ({ path, contentType: "text/plain", body });
    return [
      text("MLmodel", stringify(modelFile(source), { lineWidth: 0 })),
      await checkedModel(source, runtime),
      text(`code/${loaderModule}.py`, loaderSource),
      text("requirements.txt", `${requirements.join("\n")}\n`),
      text("conda.yaml", stringify(condaEnvironment)),
      text("python_env.yaml", stringify(pythonEnvironment)),
      { path: exampleFile, contentType: "application/json", body: `${JSON.stringify(inputExample(source))}\n` },
      ...documents(source),
    ];
  } finally {
    await runtime.close();
  }
};

const condaEnvironment = {
  name: "mlflow-env",
  channels: ["conda-forge"],
  dependencies: [`python=${pythonVersion}`, "pip", { pip: requirements }],
};

const pythonEnvironment = { python: pythonVersion, dependencies: ["-r requirements.txt"] };

/** Builds `MLmodel` without times and ids, so that the same version gives the same bytes. */
function modelFile({ artifact }: ExportSource): object {
  const { label, runId, weightsSha256, model } = artifact;
  const columns = usedColumns(artifact);
  return {
    flavors: {
      onnx: { code: "code", data: "model.onnx", providers: ["CPUExecutionProvider"] },
      python_function: {
        loader_module: loaderModule,
        code: "code",
        env: { conda: "conda.yaml", virtualenv: "python_env.yaml" },
        python_version: pythonVersion,
      },
    },
    mlflow_version: mlflowVersion,
    run_id: runId,
    saved_input_example_info: { artifact_path: exampleFile, pandas_orient: "split", type: "dataframe" },
    signature: {
      inputs: JSON.stringify(columns.map(inputColumn)),
      outputs: JSON.stringify(outputColumns(label)),
      params: null,
    },
    metadata: {
      ringmaster: {
        model,
        weights_sha256: weightsSha256,
        columns: columns.map(({ name, type, shape }) => ({ name, type, ...(shape ? { shape } : {}) })),
        ...(label.kind === "class" ? { classes: label.classes } : {}),
      },
    },
  };
}

function usedColumns({ transform, inputSchema }: ExportSource["artifact"]): readonly ColumnSchema[] {
  const used = inputColumns(transform);
  return inputSchema.filter(({ name }) => used.has(name));
}

/**
 * All columns but required text are `any`: MLflow refuses whole numbers for `double`, and float64, to which pandas
 * converts columns with missing values, for `long` and `string`. The loader checks the values itself.
 */
function inputColumn(column: ColumnSchema): object {
  const required = !isNullable(column);
  return { type: column.type === "string" && required ? "string" : "any", name: column.name, required };
}

function outputColumns(label: LabelEncoding): readonly object[] {
  if (label.kind === "value") return [{ type: "float", name: "value", required: true }];
  const [first] = label.classes;
  const type = typeof first === "string" ? "string" : typeof first === "boolean" ? "boolean" : "long";
  return [
    { type, name: "label", required: true },
    { type: "array", items: { type: "double" }, name: "probabilities", required: true },
  ];
}

/** Builds a DataFrame of a few rows, in pandas' orientation `split`. */
function inputExample({ artifact, check }: ExportSource): object {
  const columns = usedColumns(artifact).map(({ name }) => name);
  const values = (row: RawRow): readonly unknown[] => columns.map((name) => row[name] ?? null);
  return { columns, data: check.rows.slice(0, 3).map(values) };
}
