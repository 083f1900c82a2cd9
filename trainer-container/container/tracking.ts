import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Telemetry } from "../telemetry/telemetry";

interface Body {
  readonly [field: string]: unknown;
  readonly key?: string;
  readonly value?: string | number;
  readonly step?: number | string;
  readonly metrics?: readonly Body[];
  readonly params?: readonly Body[];
  readonly tags?: readonly Body[];
  readonly name?: string;
  readonly model_id?: string;
}

const maxBodyBytes = 2 ** 24;

/** Values that the command logged by MLflow's client. */
export interface Tracking {
  readonly uri: string;
  /** The last value of each metric. */
  readonly metrics: Readonly<Record<string, number>>;
  readonly params: Readonly<Record<string, string>>;
  /** The highest step of a metric. */
  readonly steps: number;
  close(): void;
}

/**
 * Answers the part of MLflow's protocol that a training script uses, for one run on 127.0.0.1. Metrics go to the run's
 * metrics, and `log_model` writes into the model folder. The command so needs no token of the platform.
 */
export async function startTracking(runId: string, modelFolder: string, telemetry: Telemetry): Promise<Tracking> {
  const metrics: Record<string, number> = {};
  const params: Record<string, string> = {};
  let steps = 0;
  const info = { run_id: runId, run_uuid: runId, experiment_id: "0", status: "RUNNING", lifecycle_stage: "active" };
  const run = () => ({ run: { info: { ...info, artifact_uri: modelFolder }, data: {}, inputs: {} } });
  const experiment = { experiment_id: "0", name: "run", artifact_location: modelFolder, lifecycle_stage: "active" };
  let model = { model_id: "m-0", experiment_id: "0", name: "model", artifact_uri: modelFolder };

  const logMetric = ({ key = "", value, step }: Body) => {
    const [number, at] = [Number(value), Math.max(0, Number(step ?? 0))];
    if (!Number.isFinite(number) || !Number.isSafeInteger(at)) return;
    telemetry.own(key, at, number);
    metrics[key] = number;
    steps = Math.max(steps, at);
  };
  const logText = ({ key = "", value }: Body) => {
    params[key] = String(value).slice(0, 1_000);
  };
  const answers: readonly (readonly [RegExp, (body: Body) => unknown])[] = [
    [/^runs\/(create|get|update)$/, () => ({ ...run(), run_info: run().run.info })],
    [/^runs\/log-metric$/, logMetric],
    [/^runs\/(log-parameter|set-tag)$/, logText],
    [
      /^runs\/log-batch$/,
      ({ metrics = [], params = [], tags = [] }) => {
        for (const metric of metrics) logMetric(metric);
        for (const text of [...params, ...tags]) logText(text);
      },
    ],
    [/^runs\/(log-inputs|log-model|outputs)$|^logged-models\/[^/]+\/(params|tags)$/, () => ({})],
    [/^experiments\/create$/, () => ({ experiment_id: "0" })],
    [/^experiments\/(get|get-by-name)$/, () => ({ experiment })],
    [
      /^logged-models(\/[^/]+)?$/,
      ({ name }) => {
        if (name !== undefined) model = { ...model, name };
        return { model: { info: { ...model, status: "LOGGED_MODEL_READY", source_run_id: runId }, data: {} } };
      },
    ],
  ];

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBodyBytes) request.destroy();
      else chunks.push(chunk);
    });
    request.on("end", () => {
      const send = (status: number, answer: unknown) =>
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer ?? {}));
      const path = /^\/(?:api|ajax-api)\/2\.0\/mlflow\/([^?]*)/.exec(request.url ?? "")?.[1] ?? "";
      const answer = answers.find(([pattern]) => pattern.test(path))?.[1];
      if (answer === undefined) {
        const message = `${path} is not available in a container: log metrics, parameters, tags and models`;
        return send(404, { error_code: "ENDPOINT_NOT_FOUND", message });
      }
      try {
        return send(200, answer(JSON.parse(Buffer.concat(chunks).toString() || "{}") as Body));
      } catch (error) {
        return send(400, { error_code: "INVALID_PARAMETER_VALUE", message: (error as Error).message });
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  return {
    uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    metrics,
    params,
    get steps() {
      return steps;
    },
    close: () => void server.close(),
  };
}
