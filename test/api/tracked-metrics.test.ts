import { callApp, useTestApp } from "../support/app";
import { runOf } from "../support/fixtures";

const { platform, app } = useTestApp({ checkResponses: true });
let runId: string;

type Created = { readonly run: { readonly runId: string } };
type Summaries = { readonly metrics: readonly object[] };
type Point = { readonly step: number; readonly value: number };
type Points = { readonly points: readonly Point[]; readonly total?: number; readonly nextToken?: string };
type Refusal = { readonly error: { readonly code: string } };

const call = <Body>(
  method: string,
  path: string,
  body?: unknown,
): Promise<{ readonly status: number; readonly body: Body }> => callApp(app, method, path, body);

beforeAll(async () => {
  await platform.runs.create(runOf("run-trained"));
});
beforeEach(async () => {
  runId = (await call<Created>("POST", "/runs", {})).body.run.runId;
});

describe("metrics that a client logs", () => {
  it("are answered when they are stored, and once where they come twice", async () => {
    const series = [
      { metric: "loss", steps: [3, -1], values: [0.5, "NaN"], times: [30, 10] },
      { metric: "ä #/🙂", steps: [0], values: ["-Infinity"], times: [7] },
    ];
    const batch = { writer: "w", sequence: 4, series };
    const path = `/runs/${runId}/metrics`;
    expect(await call("POST", path, batch)).toEqual({ status: 200, body: { duplicate: false } });
    expect((await call("POST", path, { ...batch, series: [] })).status).toBe(400);
    expect((await call("POST", path, batch)).body).toEqual({ duplicate: true });
    expect((await call("POST", path, { series })).body).toEqual({ duplicate: false });
    expect((await call<Summaries>("GET", path)).body.metrics).toEqual([
      { metric: "loss", last: 0.5, lastStep: 3, lastTime: 30, min: 0.5, max: 0.5 },
      { metric: "ä #/🙂", last: "-Infinity", lastStep: 0, lastTime: 7, min: "-Infinity", max: "-Infinity" },
    ]);
    expect((await call("GET", `${path}?metric=loss`)).body).toEqual({
      metric: "loss",
      points: [
        { step: -1, value: "NaN", time: 10 },
        { step: 3, value: 0.5, time: 30 },
      ],
      total: 2,
    });
  });

  it("of a step are several, in a logged run; in a training run the later one stands", async () => {
    const series = (time: number, value: number) => ({
      series: [{ metric: "loss", steps: [1], values: [value], times: [time] }],
    });
    for (const id of [runId, "run-trained"]) {
      for (const body of [series(20, 2), series(10, 1)]) await call("POST", `/runs/${id}/metrics`, body);
    }
    const valuesOf = async (id: string) =>
      (await call<Points>("GET", `/runs/${id}/metrics?metric=loss`)).body.points.map(({ value }) => value);
    expect(await valuesOf(runId)).toEqual([1, 2]);
    expect(await valuesOf("run-trained")).toEqual([2]);
  });

  it("are viewed by as many points as are requested, in a range", async () => {
    const steps = Array.from({ length: 2_000 }, (_, i) => i);
    const values = steps.map((step) => (step === 777 ? 9 : step === 778 ? -9 : step / 2_000));
    await call("POST", `/runs/${runId}/metrics`, { series: [{ metric: "loss", steps, values, times: steps }] });
    const view = (await call<Points>("GET", `/runs/${runId}/metrics?metric=loss&points=20`)).body;
    expect([view.points.length <= 20, view.total]).toEqual([true, 2_000]);
    const shown = view.points.map(({ step }) => step);
    expect(shown).toEqual(expect.arrayContaining([0, 777, 778, 1_999]));
    const range = "&fromStep=775&toStep=778";
    const zoomed = (await call<Points>("GET", `/runs/${runId}/metrics?metric=loss&points=20${range}`)).body;
    expect(zoomed.points.map(({ step }) => step)).toEqual([775, 776, 777, 778]);
  });

  it("are read whole by pages, in the order of time", async () => {
    const times = [50, 40, 30, 20, 10];
    await call("POST", `/runs/${runId}/metrics`, {
      series: [{ metric: "loss", steps: [1, 2, 3, 4, 5], values: [1, 2, 3, 4, 5], times }],
    });
    const path = `/runs/${runId}/metrics/history?metric=loss&limit=2`;
    const seen: number[] = [];
    let token: string | undefined;
    do {
      const page = await call<Points>("GET", token === undefined ? path : `${path}&nextToken=${token}`);
      seen.push(...page.body.points.map(({ step }) => step));
      token = page.body.nextToken;
    } while (token !== undefined);
    expect(seen).toEqual([5, 4, 3, 2, 1]);
  });

  const point = { series: [{ metric: "loss", steps: [1], values: [1] }] };
  const halved = { series: [{ metric: "a", steps: [0.5], values: [1] }] };
  it.each<[string, string, string, unknown, [number, string]]>([
    ["no run", "POST", "/runs/nowhere/metrics", point, [404, "RUN_NOT_FOUND"]],
    ["no run to read of", "GET", "/runs/nowhere/metrics", undefined, [404, "RUN_NOT_FOUND"]],
    ["points of no metric", "GET", "/runs/:run/metrics?points=5", undefined, [400, "INVALID_INPUT"]],
    ["a wrong page", "GET", "/runs/:run/metrics/history?metric=a&nextToken=x", undefined, [400, "INVALID_INPUT"]],
    ["half a step", "POST", "/runs/:run/metrics", halved, [400, "INVALID_INPUT"]],
  ])("are refused: %s", async (_what, method, path, body, expected) => {
    const answer = await call<Refusal>(method, path.replace(":run", runId), body);
    expect([answer.status, answer.body.error.code]).toEqual(expected);
  });

  it("are refused by a deleted run, at once, until it is restored", async () => {
    const path = `/runs/${runId}/metrics`;
    await call("POST", path, point);
    await call("DELETE", `/runs/${runId}`);
    const answer = await call<Refusal>("POST", path, point);
    expect([answer.status, answer.body.error.code]).toEqual([409, "RUN_DELETED"]);
    await call("POST", `/runs/${runId}/restore`);
    expect((await call("POST", path, point)).status).toBe(200);
  });
});
