import { createHash } from "node:crypto";
import type { Load, Operation } from "../../../test/support/operation-verdict";
import { integerBelow } from "../../../test/support/random";
import type { Api } from "../api";

const timestamp = 1_767_259_800_000;
const base = "/2.0/mlflow";

interface MlflowRun {
  readonly run: {
    readonly info: { readonly run_id: string; readonly experiment_id: string };
    readonly data: {
      readonly params?: readonly { readonly key: string; readonly value: string }[];
      readonly tags?: readonly { readonly key: string; readonly value: string }[];
    };
  };
}

/** The operations of an MLflow client: batches, artifacts, and versions of a registered model. One run gets a round's metrics. */
export function mlflowLoad(api: Api): Load {
  let run: MlflowRun["run"]["info"];
  let model = "";
  let step = 0;
  return {
    name: "MLflow",
    weight: 5,
    async begin(round) {
      step = 0;
      const create = {
        experiment_id: "0",
        start_time: timestamp,
        tags: [{ key: "mlflow.runName", value: `${round}` }],
      };
      run = (await api.call<MlflowRun>("POST", `${base}/runs/create`, create)).run.info;
      model = `mlflow-${round}`;
      await api.call("POST", `${base}/registered-models/create`, { name: model });
    },
    draw: (random, id) => {
      const share = random();
      if (share < 0.5) {
        step += 1;
        return logBatch(api, run.run_id, id, step, 1 + integerBelow(random, 30));
      }
      if (share < 0.8) return putArtifact(api, run, id, integerBelow(random, 50_000));
      return createVersion(api, run.run_id, model, id);
    },
  };
}

function logBatch(api: Api, runId: string, id: string, step: number, count: number): Operation {
  const keys = Array.from({ length: count }, (_, at) => `mlflow/${at}`);
  return {
    kind: "MLflow: log-batch",
    id,
    repeatable: true,
    async send() {
      await api.call("POST", `${base}/runs/log-batch`, {
        run_id: runId,
        metrics: keys.map((key, at) => ({ key, value: at + step / 1000, timestamp, step })),
        params: [{ key: id, value: id }],
        tags: [{ key: id, value: id }],
      });
    },
    async count() {
      const counts = await Promise.all(
        [keys[0]!, keys.at(-1)!].map(async (metric_key) => {
          const query = new URLSearchParams({ run_id: runId, metric_key, max_results: "25000" });
          const { metrics = [] } = await api.call<{
            readonly metrics?: readonly { readonly step?: string; readonly value: number }[];
          }>("GET", `${base}/metrics/get-history?${query}`);
          const found = metrics.filter((point) => Number(point.step ?? 0) === step);
          const expected = keys.indexOf(metric_key) + step / 1000;
          if (found.some(({ value }) => value !== expected)) throw new Error(`${metric_key} is not ${expected}`);
          return found.length;
        }),
      );
      const { run } = await api.call<MlflowRun>("GET", `${base}/runs/get?run_id=${runId}`);
      for (const list of [run.data.params ?? [], run.data.tags ?? []])
        counts.push(list.filter(({ key, value }) => key === id && value === id).length);
      return Math.max(...counts) > 1 ? Math.max(...counts) : Math.min(...counts);
    },
  };
}

function putArtifact(
  api: Api,
  run: { readonly run_id: string; readonly experiment_id: string },
  id: string,
  size: number,
): Operation {
  const text =
    id +
    createHash("sha512")
      .update(id)
      .digest("hex")
      .repeat(Math.ceil(size / 128));
  const place = `/2.0/mlflow-artifacts/artifacts/${run.experiment_id}/${run.run_id}/artifacts`;
  return {
    kind: "MLflow: artifact",
    id,
    repeatable: true,
    send: async () => void (await api.call("PUT", `${place}/${id}.txt`, Buffer.from(text))),
    async count() {
      const { files = [] } = await api.call<{ readonly files?: readonly { path: string; file_size: unknown }[] }>(
        "GET",
        `${base}/artifacts/list?run_id=${run.run_id}`,
      );
      const listed = files.filter(({ path }) => path === `${id}.txt`);
      if (listed.length === 0) return 0;
      const content = await api.call<string>("GET", `${place}/${id}.txt`);
      if (content !== text) throw new Error(`${id}.txt has ${content.length} other bytes`);
      return listed.length;
    },
  };
}

/** Not repeatable: MLflow's protocol has no key that distinguishes a repetition from another version. */
function createVersion(api: Api, runId: string, name: string, id: string): Operation {
  return {
    kind: "MLflow: model version",
    id,
    repeatable: false,
    async send() {
      const source = `runs:/${runId}/model`;
      await api.call("POST", `${base}/model-versions/create`, { name, source, run_id: runId, description: id });
    },
    async count() {
      const query = new URLSearchParams({ filter: `name='${name}'`, max_results: "1000" });
      const { model_versions = [] } = await api.call<{
        readonly model_versions?: readonly { readonly version: string; readonly description?: string }[];
      }>("GET", `${base}/model-versions/search?${query}`);
      const numbers = new Set(model_versions.map(({ version }) => version));
      if (model_versions.some((_, at) => !numbers.has(String(at + 1)))) throw new Error(`versions are ${[...numbers]}`);
      return model_versions.filter(({ description }) => description === id).length;
    },
  };
}
