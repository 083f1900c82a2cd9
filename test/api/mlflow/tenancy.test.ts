import type { Hono } from "hono";
import { createApp } from "../../../api/app";
import type { ApiEnvironment } from "../../../api/http/context";
import { trackingOperations } from "../../../api/mlflow/operations";
import { createTestPlatform, type Embedded, startEmbedded } from "../../support/embedded";

interface Things {
  readonly experiment: string;
  readonly run: string;
  readonly model: string;
}

type Request = { readonly query?: Record<string, string>; readonly body?: object };

const absent = "absent";
const others = "nothing of the other's";
/**
 * Requests for each operation, and another team's response: 404 as for missing things, or a response without the
 * owner's things.
 */
const requests: Readonly<Record<string, readonly [(things: Things) => Request, typeof absent | typeof others]>> = {
  "POST /mlflow/experiments/create": [() => ({ body: { name: "theirs" } }), others],
  "GET /mlflow/experiments/get": [({ experiment }) => ({ query: { experiment_id: experiment } }), absent],
  "GET /mlflow/experiments/get-by-name": [() => ({ query: { experiment_name: "secret" } }), absent],
  "POST /mlflow/experiments/update": [
    ({ experiment }) => ({ body: { experiment_id: experiment, new_name: "x" } }),
    absent,
  ],
  "POST /mlflow/experiments/delete": [({ experiment }) => ({ body: { experiment_id: experiment } }), absent],
  "POST /mlflow/experiments/restore": [({ experiment }) => ({ body: { experiment_id: experiment } }), absent],
  "POST /mlflow/experiments/set-experiment-tag": [
    ({ experiment }) => ({ body: { experiment_id: experiment, key: "a", value: "1" } }),
    absent,
  ],
  "POST /mlflow/experiments/delete-experiment-tag": [
    ({ experiment }) => ({ body: { experiment_id: experiment, key: "a" } }),
    absent,
  ],
  "POST /mlflow/experiments/search": [() => ({ body: { max_results: 100, view_type: "ALL" } }), others],
  "GET /mlflow/experiments/search": [() => ({ query: { max_results: "100", view_type: "ALL" } }), others],
  "POST /mlflow/runs/create": [({ experiment }) => ({ body: { experiment_id: experiment } }), absent],
  "GET /mlflow/runs/get": [({ run }) => ({ query: { run_id: run } }), absent],
  "POST /mlflow/runs/update": [({ run }) => ({ body: { run_id: run, status: "FAILED" } }), absent],
  "POST /mlflow/runs/delete": [({ run }) => ({ body: { run_id: run } }), absent],
  "POST /mlflow/runs/restore": [({ run }) => ({ body: { run_id: run } }), absent],
  "POST /mlflow/runs/log-metric": [
    ({ run, model }) => ({ body: { run_id: run, key: "a", value: 1, timestamp: 1, model_id: model } }),
    absent,
  ],
  "POST /mlflow/runs/log-parameter": [({ run }) => ({ body: { run_id: run, key: "a", value: "1" } }), absent],
  "POST /mlflow/runs/set-tag": [({ run }) => ({ body: { run_id: run, key: "a", value: "1" } }), absent],
  "POST /mlflow/runs/delete-tag": [({ run }) => ({ body: { run_id: run, key: "secret" } }), absent],
  "POST /mlflow/runs/log-model": [
    ({ run }) => ({
      body: {
        run_id: run,
        model_json: JSON.stringify({ artifact_path: "", flavors: {}, utc_time_created: "", run_id: "" }),
      },
    }),
    absent,
  ],
  "POST /mlflow/runs/log-batch": [
    ({ run }) => ({ body: { run_id: run, metrics: [{ key: "a", value: 1, timestamp: 1 }] } }),
    absent,
  ],
  "POST /mlflow/runs/log-inputs": [({ run }) => ({ body: { run_id: run, models: [{ model_id: "m" }] } }), absent],
  "POST /mlflow/runs/outputs": [({ run }) => ({ body: { run_id: run, models: [{ model_id: "m" }] } }), absent],
  "POST /mlflow/runs/search": [
    ({ experiment }) => ({ body: { experiment_ids: [experiment], run_view_type: "ALL" } }),
    others,
  ],
  "POST /mlflow/experiments/search-datasets": [
    ({ experiment }) => ({ body: { experiment_ids: [experiment] } }),
    others,
  ],
  "GET /mlflow/metrics/get-history": [({ run }) => ({ query: { run_id: run, metric_key: "secret" } }), others],
  "GET /mlflow/metrics/get-history-bulk": [({ run }) => ({ query: { run_id: run, metric_key: "secret" } }), others],
  "GET /mlflow/metrics/get-history-bulk-interval": [
    ({ run }) => ({ query: { run_ids: run, metric_key: "secret" } }),
    others,
  ],
  "POST /mlflow/logged-models": [({ experiment }) => ({ body: { experiment_id: experiment } }), absent],
  "GET /mlflow/logged-models/{model_id}": [() => ({}), absent],
  "PATCH /mlflow/logged-models/{model_id}": [({ model }) => ({ body: { model_id: model, status: 2 } }), absent],
  "DELETE /mlflow/logged-models/{model_id}": [() => ({}), absent],
  "GET /mlflow/logged-models/{model_id}/artifacts/directories": [() => ({}), absent],
  "PATCH /mlflow/logged-models/{model_id}/tags": [() => ({ body: { tags: [{ key: "a", value: "1" }] } }), absent],
  "DELETE /mlflow/logged-models/{model_id}/tags/{tag_key}": [() => ({}), absent],
  "POST /mlflow/logged-models/{model_id}/params": [
    ({ model }) => ({ body: { model_id: model, params: [{ key: "a", value: "1" }] } }),
    absent,
  ],
  "POST /mlflow/logged-models/search": [({ experiment }) => ({ body: { experiment_ids: [experiment] } }), others],
};

describe("no call in MLflow's protocol crosses a team", () => {
  let embedded: Embedded;
  let app: Hono<ApiEnvironment>;
  let things: Things;
  beforeAll(async () => {
    embedded = await startEmbedded();
    app = createApp(createTestPlatform(embedded).platform);
    const make = async (route: string, body: object) => (await call("red", route, { body })).body as never;
    // Its own first, so that its ids are not the other's, too.
    for (const name of ["one", "two"]) await make("POST /mlflow/experiments/create", { name });
    const { experiment_id: experiment } = (await make("POST /mlflow/experiments/create", { name: "secret" })) as {
      experiment_id: string;
    };
    const { run } = (await make("POST /mlflow/runs/create", { experiment_id: experiment, run_name: "secret" })) as {
      run: { info: { run_id: string } };
    };
    const { model } = (await make("POST /mlflow/logged-models", {
      experiment_id: experiment,
      name: "secret",
      tags: [{ key: "secret", value: "1" }],
    })) as { model: { info: { model_id: string } } };
    things = { experiment, run: run.info.run_id, model: model.info.model_id };
    await make("POST /mlflow/runs/log-batch", {
      run_id: things.run,
      metrics: [{ key: "secret", value: 1, timestamp: 1 }],
      tags: [{ key: "secret", value: "1" }],
    });
    await make("POST /mlflow/runs/log-inputs", {
      run_id: things.run,
      datasets: [{ dataset: { name: "secret", digest: "d", source_type: "x", source: "y" } }],
    });
  });
  afterAll(() => embedded.stop());

  async function call(team: string, route: string, { query, body }: Request) {
    const [method, path] = route.split(" ") as [string, string];
    const filled = path.replace("{model_id}", things?.model ?? "").replace("{tag_key}", "secret");
    const response = await app.request(`/api/2.0${filled}?${new URLSearchParams(query)}`, {
      method,
      headers: { "content-type": "application/json", "x-ringmaster-team": team },
      body: body && JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as { readonly error_code?: string } };
  }

  it("has a request for every operation", () => {
    expect(Object.keys(requests).sort()).toEqual(
      trackingOperations.map(({ method, path }) => `${method} ${path}`).sort(),
    );
  });

  it.each(Object.keys(requests))("%s", async (route) => {
    const [request, expected] = requests[route]!;
    const { status, body } = await call("blue", route, request(things));
    if (expected === absent) expect([status, body.error_code]).toEqual([404, "RESOURCE_DOES_NOT_EXIST"]);
    else {
      expect(status).toBe(200);
      expect(JSON.stringify(body)).not.toContain("secret");
      expect(JSON.stringify(body)).not.toContain(things.run);
    }
  });

  it("nothing of the owner's has changed, and it has what it has", async () => {
    const { body } = await call("red", "GET /mlflow/runs/get", { query: { run_id: things.run } });
    expect(body).toMatchObject({
      run: {
        info: { run_name: "secret", status: "RUNNING", lifecycle_stage: "active" },
        data: { metrics: [{ key: "secret", value: 1 }], tags: [{ key: "secret" }, { key: "mlflow.runName" }] },
      },
    });
    const { body: model } = await call("red", "GET /mlflow/logged-models/{model_id}", {});
    expect(model).toMatchObject({
      model: { info: { status: "LOGGED_MODEL_PENDING", tags: [{ key: "secret" }] }, data: {} },
    });
  });
});
