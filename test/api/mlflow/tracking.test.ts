import { createApp } from "../../../api/app";
import { useTestApp } from "../../support/app";
import { createEvaluatedRun, stepTimes } from "../../support/evaluated-run";
import { jobInput, registerTestDataset, resultOf, runOf } from "../../support/fixtures";

interface KeyValue {
  readonly key: string;
  readonly value: string;
}

interface RunInfo {
  readonly run_id: string;
  readonly experiment_id: string;
  readonly run_name: string;
  readonly status: string;
  readonly start_time: number;
}

interface MlflowRun {
  readonly info: RunInfo;
  readonly data: { readonly metrics: readonly object[]; readonly params: readonly object[]; readonly tags: KeyValue[] };
  readonly inputs: { readonly dataset_inputs: readonly object[] };
}

type RunAnswer = { readonly run: MlflowRun };
type Page = { readonly runs: readonly MlflowRun[]; readonly next_page_token?: string };
type Curve = { readonly metrics: readonly { readonly step: number | string }[] };
type Refusal = { readonly error_code: string };

interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
}

describe("MLflow's API for the platform's own runs", () => {
  const { platform, app } = useTestApp();

  async function send<Body>(method: string, path: string, body?: object, headers: object = {}): Promise<Answer<Body>> {
    const response = await app.request(path.startsWith("/") ? path : `/api/2.0/mlflow/${path}`, {
      method,
      headers: { "content-type": "application/json", ...headers },
      body: body && JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Body };
  }
  const post = <Body>(path: string, body: object, headers?: object): Promise<Answer<Body>> =>
    send("POST", path, body, headers);
  const createRun = (body: object, headers?: object): Promise<Answer<RunAnswer>> => post("runs/create", body, headers);
  const getRun = async (id: string): Promise<MlflowRun> =>
    (await send<RunAnswer>("GET", `runs/get?run_id=${id}`)).body.run;
  const search = async (body: object): Promise<Page> => (await post<Page>("runs/search", body)).body;
  const tagsOf = ({ data }: MlflowRun): Record<string, string> =>
    Object.fromEntries(data.tags.map(({ key, value }) => [key, value]));

  describe("a run that is trained here", () => {
    let id: string;
    beforeAll(async () => {
      await registerTestDataset(platform);
      const job = { ...jobInput(), experiment: "trained", notes: "as submitted" };
      const { body } = await post<{ readonly run: { readonly runId: string } }>("/api/v1/training-runs", { job });
      id = body.run.runId;
    });

    it("takes a dataset without a digest and with long texts, which the native API shows", async () => {
      const { body } = await post<RunAnswer>("runs/create", { experiment_id: "0" });
      const { run_id } = body.run.info;
      const dataset = { name: "logged", digest: "", source_type: "x".repeat(200), source: "s".repeat(20_000) };
      expect(await post("runs/log-inputs", { run_id, datasets: [{ dataset }] })).toEqual({ status: 200, body: {} });
      const found = await send<object>("POST", "/api/v1/runs/search", { filter: `run_id = "${run_id}"` });
      expect(found).toMatchObject({
        status: 200,
        body: { runs: [{ run: { datasets: [{ name: "logged", digest: "" }] } }] },
      });
    });

    it("shows its job as params, its status, its data", async () => {
      const run = await getRun(id);
      expect(run.info).toMatchObject({ run_id: id, status: "SCHEDULED", lifecycle_stage: "active" });
      expect(run.data.params).toContainEqual({ key: "model.type", value: "mlp" });
      expect(run.inputs.dataset_inputs).toHaveLength(1);
      expect(tagsOf(run)).toMatchObject({
        "mlflow.note.content": "as submitted",
        "mlflow.source.type": "JOB",
      });
    });

    it("has the metrics of the test split: by run, in its history, in filters and in orders", async () => {
      const test = { classes: ["a", "b"], labels: [0, 1, 1, 0] };
      await createEvaluatedRun(platform, "run-better", { ...test, outputs: [0.1, 0.9, 0.8, 0.2] });
      await createEvaluatedRun(platform, "run-worse", { ...test, outputs: [0.4, 0.9, 0.3, 0.1] });
      const { info, data } = await getRun("run-worse");
      expect(data.metrics).toContainEqual(expect.objectContaining({ key: "test/accuracy", value: 0.75, step: 10 }));
      const history = await send<{ readonly metrics: readonly object[] }>(
        "GET",
        "metrics/get-history?run_id=run-worse&metric_key=test/accuracy",
      );
      expect(history.body.metrics).toMatchObject([{ key: "test/accuracy", value: 0.75, step: 10 }]);
      const found = async (filter: string) => {
        const order_by = ["metrics.`test/logLoss` ASC"];
        const { runs = [] } = await search({ experiment_ids: [info.experiment_id], filter, order_by });
        return runs.map((run) => run.info.run_id);
      };
      expect(await found("metrics.`test/accuracy` > 0.5")).toEqual(["run-better", "run-worse"]);
      expect(await found('metrics."test/accuracy" > 0.9')).toEqual(["run-better"]);
    });

    it("keeps its status and the metrics that the platform has measured, through either API", async () => {
      const run_id = "run-better";
      const before = await platform.records.find(run_id);
      await post("runs/update", { run_id, status: "FAILED" });
      const metric = { key: "test/accuracy", value: 1, timestamp: 1, step: 1_000_000 };
      const series = [{ metric: "test/accuracy", steps: [1_000_000], values: [1] }];
      for (const refused of [
        await post("runs/log-metric", { run_id, ...metric }),
        await post("runs/log-batch", { run_id, metrics: [{ ...metric, key: "a" }, metric] }),
        await post(`/api/v1/runs/${run_id}/metrics`, { series }),
      ])
        expect(refused.status).toBe(409);
      const names = (await platform.metrics.summaries(run_id)).map(({ metric: each }) => each);
      expect(names).not.toContain("a");
      expect((await post("runs/log-metric", { run_id, ...metric, key: "a" })).status).toBe(200);
      expect(await platform.records.find(run_id)).toEqual(before);
    });

    it("names the run whose training it reuses", async () => {
      await platform.runs.create(runOf("run-reuser"));
      const step = { inputHash: "h", output: resultOf("run-better"), reusedFrom: "run-better" };
      await platform.runs.recordStep("run-reuser", { step: "LaunchTraining", ...step, ...stepTimes });
      expect(tagsOf(await getRun("run-reuser"))).toMatchObject({ "ringmaster.reusedFrom": "run-better" });
    });

    it("keeps its hyperparameters", async () => {
      const { status, body } = await post<Refusal>("runs/log-parameter", {
        run_id: id,
        key: "model.type",
        value: "cnn",
      });
      expect([status, body.error_code]).toEqual([400, "INVALID_PARAMETER_VALUE"]);
    });
  });

  describe("a request sent again", () => {
    it("makes the same run under the same key, and refuses another request under it", async () => {
      const key = { "idempotency-key": "k-1" };
      const first = await createRun({ run_name: "a", start_time: 1 }, key);
      const again = await createRun({ run_name: "a", start_time: 1 }, key);
      expect(again.body.run.info.run_id).toBe(first.body.run.info.run_id);
      const other = await post<Refusal>("runs/create", { run_name: "b", start_time: 1 }, key);
      expect([other.status, other.body.error_code]).toEqual([409, "RESOURCE_CONFLICT"]);
    });
  });

  it("does not delete the experiment that every team has", async () => {
    const { body } = await post<Refusal>("experiments/delete", { experiment_id: "0" });
    expect(body.error_code).toBe("INVALID_PARAMETER_VALUE");
  });

  it("leads a relative place for files into the directory of a server that shares its clients' disk", async () => {
    const placed = async (name: string): Promise<string> => {
      await post("experiments/create", { name, artifact_location: "files/here" });
      const { body } = await send<{ readonly experiment: { readonly artifact_location: string } }>(
        "GET",
        `experiments/get-by-name?experiment_name=${name}`,
      );
      return body.experiment.artifact_location;
    };
    expect(await placed("anywhere")).toBe("files/here");
    process.env["RINGMASTER_WORKING_DIRECTORY"] = "/home/ada";
    try {
      expect(await placed("on-one-machine")).toBe("/home/ada/files/here");
    } finally {
      delete process.env["RINGMASTER_WORKING_DIRECTORY"];
    }
  });

  it("deletes and restores an experiment with runs that no listing has yet", async () => {
    const { body } = await post<{ readonly experiment_id: string }>("experiments/create", { name: "goes" });
    const create = async () => (await createRun({ ...body, start_time: 1 })).body.run.info.run_id;
    const ids = await Promise.all(Array.from({ length: 20 }, create));
    const stages = async () => new Set((await platform.records.findMany(ids)).map(({ lifecycle }) => lifecycle));
    await post("experiments/delete", body);
    expect([...(await stages())]).toEqual(["deleted"]);
    await post("experiments/restore", body);
    expect([...(await stages())]).toEqual(["active"]);
  });

  it("refuses a caller that is not in the team in MLflow's format", async () => {
    const strict = createApp(platform, { directory: [] });
    const response = await strict.request("/api/2.0/mlflow/runs/get?run_id=x", {
      headers: { "x-ringmaster-team": "No Team" },
    });
    expect([response.status, await response.json()]).toEqual([
      400,
      { error_code: "INVALID_PARAMETER_VALUE", message: expect.any(String) },
    ]);
  });

  it("answers a search that is too large for a function in pages", async () => {
    const { body } = await post<{ readonly experiment_id: string }>("experiments/create", { name: "large" });
    const { experiment_id } = body;
    const tags = Array.from({ length: 100 }, (_, i) => ({ key: `t${i}`, value: "x".repeat(8000) }));
    // 0.8 MB each.
    for (let i = 0; i < 6; i += 1) await createRun({ experiment_id, start_time: i, tags });
    const first = await search({ experiment_ids: [experiment_id] });
    expect(first.runs).toHaveLength(5);
    const second = await search({ experiment_ids: [experiment_id], page_token: first.next_page_token });
    expect(second.runs.map(({ info }) => info.start_time)).toEqual([0]);
    expect(second.next_page_token).toBeUndefined();
  });

  it("shows of a curve too long to be read its first and last points, and its peak", async () => {
    const { body } = await createRun({ experiment_id: "0" });
    const run = body.run.info.run_id;
    const steps = Array.from({ length: 50_001 }, (_, step) => step);
    const values = steps.map((step) => (step === 31_415 ? 9 : step / 50_000));
    await platform.metrics.append(run, [{ metric: "loss", steps, values, times: steps }]);
    const query = `run_ids=${run}&metric_key=loss&max_results=50`;
    const curve = (more = "") => send<Curve>("GET", `metrics/get-history-bulk-interval?${query}${more}`);
    const shown = (await curve()).body.metrics.map(({ step }) => Number(step));
    expect(shown.length).toBeLessThanOrEqual(50);
    expect([shown[0], shown.at(-1)]).toEqual([0, 50_000]);
    expect(shown).toContain(31_415);
    expect((await curve("&start_step=10&end_step=12")).body.metrics).toHaveLength(3);
  });
});
