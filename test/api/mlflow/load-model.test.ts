import { layers, sequential } from "@tensorflow/tfjs-layers";
import { parse } from "yaml";
import { startOnnxRuntime } from "../../../adapters/onnx/run-onnx";
import { artifactManifest, type ModelArtifact } from "../../../core/evaluation/model-artifact";
import { getJson } from "../../../core/object-documents";
import { storeArtifact } from "../../../core/registry/artifact";
import { encodeSafetensors } from "../../../core/safetensors";
import { artifactFormat } from "../../../trainer-container/tfjs/artifact";
import { useTestApp } from "../../support/app";
import { columns, fitted, labels, mixedRows, registered } from "../../support/exportable";

interface Listed {
  readonly files?: readonly { readonly path: string; readonly is_dir: boolean; readonly file_size?: number }[];
}

describe("a trained version that MLflow's client loads", () => {
  const runtime = startOnnxRuntime();
  const { platform, app, transfers } = useTestApp();
  let manifestKey: string;
  beforeAll(async () => {
    const features = await fitted([...columns, labels.classification], mixedRows);
    const { runId, artifactKey, weightsSha256 } = await registered(platform.objects, columns, features, {
      hidden: [7],
    });
    manifestKey = artifactKey!;
    await register("m", { runId: runId!, artifactKey: manifestKey, weightsSha256: weightsSha256! });
  });
  afterAll(async () => {
    await runtime.close();
  });

  const register = (
    model: string,
    made: { readonly runId: string; readonly artifactKey: string; readonly weightsSha256: string },
  ) =>
    platform.registry.register("default", { model, ...made, metrics: {} } as never, {
      by: "ada",
      at: "2026-01-01T00:00:00.000Z",
    });

  /** Registers a version of another run, whose artifact differs from that of the first. */
  async function registerVariant(model: string, change: Partial<ModelArtifact>): Promise<void> {
    const artifact = await getJson(platform.objects, manifestKey, artifactManifest);
    const artifactKey = await storeArtifact(platform.objects, { ...artifact, runId: `run-${model}`, ...change });
    await register(model, { runId: `run-${model}`, artifactKey, weightsSha256: artifact.weightsSha256 });
  }

  async function mlflow<T>(path: string, team = "default"): Promise<{ readonly status: number; readonly body: T }> {
    const response = await app.request(`/api/2.0/${path}`, { headers: { "x-ringmaster-team": team } });
    return { status: response.status, body: (await response.json()) as T };
  }
  const uriOf = (name: string, team?: string) =>
    mlflow<{ readonly artifact_uri?: string; readonly error_code?: string; readonly message?: string }>(
      `mlflow/model-versions/get-download-uri?name=${name}&version=1`,
      team,
    );

  async function download(root: string, under = ""): Promise<Readonly<Record<string, Uint8Array>>> {
    const { body } = await mlflow<Listed>(`mlflow-artifacts/artifacts?path=${root}/${under}`);
    const files: Record<string, Uint8Array> = {};
    for (const { path, is_dir, file_size } of body.files ?? []) {
      const name = under === "" ? path : `${under}/${path}`;
      if (is_dir) Object.assign(files, await download(root, name));
      else {
        const response = await transfers.request(`/api/2.0/mlflow-artifacts/artifacts/${root}/${name}`);
        expect(response.status).toBe(200);
        files[name] = new Uint8Array(await response.arrayBuffer());
        expect(files[name]).toHaveLength(file_size ?? 0);
      }
    }
    return files;
  }

  it("is a directory with an ONNX flavour, whose file gives the platform's own answers", async () => {
    const uri = (await uriOf("m")).body.artifact_uri!;
    expect((await uriOf("m")).body.artifact_uri).toBe(uri);
    const files = await download(uri.replace("mlflow-artifacts:/", ""));
    expect(Object.keys(files).sort()).toEqual([
      "MLmodel",
      "code/ringmaster_pyfunc_1.py",
      "conda.yaml",
      "examples.json",
      "input_example.json",
      "model.onnx",
      "python_env.yaml",
      "requirements.txt",
      "transform.json",
    ]);
    const text = (name: string): string => new TextDecoder().decode(files[name]);
    const model = parse(text("MLmodel"));
    expect(model).toMatchObject({
      flavors: {
        onnx: { data: "model.onnx" },
        python_function: { loader_module: "ringmaster_pyfunc_1", code: "code" },
      },
      run_id: "run-0123456789abcdef",
      metadata: { ringmaster: { classes: ["a", "b", "c"] } },
    });
    expect(JSON.parse(model.signature.inputs)).toContainEqual({ type: "any", name: "island", required: false });
    expect(JSON.parse(model.signature.outputs)[0]).toEqual({ type: "string", name: "label", required: true });

    const { classes, examples } = JSON.parse(text("examples.json")) as {
      readonly classes: readonly string[];
      readonly examples: readonly {
        readonly row: Readonly<Record<string, unknown>>;
        readonly probabilities: readonly number[];
      }[];
    };
    const feeds = columns.map(({ name, type, shape = [1] }) => {
      const values = examples.map(({ row }) => row[name]);
      const width = shape.reduce((product, side) => product * side, 1);
      const numbers = values.flatMap((value) =>
        value === null ? Array<number>(width).fill(Number.NaN) : (value as number),
      );
      const data =
        type === "string"
          ? values.map((value) => (value as string | null) ?? "?")
          : type === "tensor"
            ? Float32Array.from(numbers)
            : Float64Array.from(numbers, Number);
      const element = type === "string" ? "string" : type === "tensor" ? "float" : "double";
      return [name, { type: element, data, dims: [examples.length, ...shape] }] as const;
    });
    const { label, probabilities_: found } = await runtime.run(files["model.onnx"]!, Object.fromEntries(feeds));
    for (const [i, { probabilities }] of examples.entries()) {
      expect((label!.data as readonly string[])[i]).toBe(classes[probabilities.indexOf(Math.max(...probabilities))]);
      for (const [k, value] of probabilities.entries())
        expect((found!.data as Float32Array)[i * probabilities.length + k]).toBeCloseTo(value, 5);
    }
  });

  it("cannot be changed by a client, and is not another team's", async () => {
    const path = (await uriOf("m")).body.artifact_uri!.replace("mlflow-artifacts:/", "");
    const file = `/api/2.0/mlflow-artifacts/artifacts/${path}/MLmodel`;
    const before = await (await transfers.request(file)).text();
    for (const method of ["PUT", "DELETE"]) {
      const refused = await transfers.request(file, { method, ...(method === "PUT" ? { body: "changed" } : {}) });
      expect(refused.status).toBe(403);
      expect(await refused.json()).toMatchObject({ error_code: "PERMISSION_DENIED" });
    }
    expect(await (await transfers.request(file)).text()).toBe(before);
    // A file under the same name among the run's own artifacts, where a client may write.
    await platform.artifacts.put({ kind: "run", runId: "run-0123456789abcdef" }, [
      { path: "exports/mlflow/MLmodel", sha256: "0".repeat(64), bytes: 1, updatedAt: "2026-01-01T00:00:00.000Z" },
    ]);
    expect(await (await transfers.request(file)).text()).toBe(before);
    const foreign = await transfers.request(file, { headers: { "x-ringmaster-team": "other" } });
    expect(foreign.status).toBe(404);
    expect((await uriOf("m", "other")).status).toBe(404);
  });

  it("is refused by the layer's name where ONNX has no form of the layer", async () => {
    const { transform } = await getJson(platform.objects, manifestKey, artifactManifest);
    const { width } = transform;
    const network = sequential({
      layers: [
        layers.reshape({ inputShape: [width], targetShape: [width, 1, 1, 1] }),
        layers.conv3dTranspose({ filters: 2, kernelSize: 1 }),
        layers.flatten(),
        layers.dense({ units: 3 }),
      ],
    });
    const weights = network.weights.map((weight) => ({
      name: weight.originalName,
      shape: weight.shape as number[],
      data: weight.read().dataSync() as Float32Array,
    }));
    const topology = {
      format: artifactFormat,
      task: "classification",
      inputShape: [width],
      outputs: 3,
      weights: weights.map(({ name }) => name),
      model: network.toJSON(null, false),
    };
    const tensors = Object.fromEntries(weights.map(({ name, ...rest }) => [name, { dtype: "F32" as const, ...rest }]));
    await registerVariant("transposed", {
      topology: await platform.objects.putContent(JSON.stringify(topology)),
      weights: await platform.objects.putContent(encodeSafetensors({ tensors })),
    });
    network.dispose();
    expect(await uriOf("transposed")).toMatchObject({
      status: 409,
      body: {
        error_code: "RESOURCE_CONFLICT",
        message: expect.stringMatching(
          /^the layer 'conv3d_transpose_Conv3DTranspose\d+' \(Conv3DTranspose\) cannot be exported to ONNX or as a SavedModel: .*tfjs/,
        ),
      },
    });
  });

  it("is refused by its size where the weights are larger than an export takes", async () => {
    await registerVariant("large", { weights: { sha256: "b".repeat(64), bytes: 64 * 1024 * 1024 + 1 } });
    expect(await uriOf("large")).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining("the model's weights are 67108865 bytes") },
    });
  });
});
