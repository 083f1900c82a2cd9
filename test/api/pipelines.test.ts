import { beginStep } from "../../core/pipelines/begin-step";
import { pipelinePorts, startPipelineRun } from "../../core/pipelines/start";
import { callApp, useTestApp } from "../support/app";

const call = { api: { operation: "listStudies" } };
const steps = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`s${i}`, call]));
const definition = (rest: object) => ({ name: "hostile", steps: { a: call }, ...rest });
const input = (text: string) => definition({ steps: { a: { function: bundled, input: { x: text } } } });
const bundled = { module: "a.js", sha256: "0".repeat(64) };

describe("the API of pipelines", () => {
  const { platform, app, calls } = useTestApp();
  const post = (path: string, body: unknown, team = "default") =>
    callApp(app, "POST", path, body, { "x-ringmaster-team": team });

  it.each<[string, unknown, string, string]>([
    ["10,000 steps", definition({ steps: steps(10_000) }), "steps", "at most 2500 steps"],
    [
      "more than a megabyte",
      definition({ steps: { a: { fail: "x", environment: { y: "x".repeat(1e6) } } } }),
      "",
      "at most 1000000 bytes",
    ],
    ["no step", definition({ steps: {} }), "steps", "must have a step"],
    ["a field that there is not", definition({ step: {} }), "step", "is not a known key"],
    ["two kinds", definition({ steps: { a: { ...call, fail: "x" } } }), "steps.a", "exactly one of"],
    ["a name that is no identifier", definition({ steps: { "a-b": call } }), "steps.a-b", "letters, digits"],
    [
      "a step that waits for itself",
      definition({ steps: { a: { ...call, after: ["a"] } } }),
      "steps.a.after[0]",
      "must not be the step itself",
    ],
    [
      "a cycle",
      definition({ steps: { a: { ...call, after: ["b"] }, b: { ...call, after: ["a"] } } }),
      "steps.a",
      "a → b → a",
    ],
    [
      "an unknown parent",
      definition({ steps: { a: { ...call, after: ["z"] } } }),
      "steps.a.after[0]",
      "must be a step of the pipeline",
    ],
    [
      "a step of finally as a parent",
      definition({ steps: { a: { ...call, after: ["z"] } }, finally: { z: call } }),
      "steps.a.after[0]",
      "must not be a step of finally",
    ],
    [
      "a step of finally with the name of another",
      definition({ finally: { a: call } }),
      "finally.a",
      "name of another step",
    ],
    [
      "an unknown step in an expression",
      input(`\${steps.z.output}`),
      "steps.a.input.x",
      "must be a step of the pipeline",
    ],
    ["an unknown parameter", input(`\${parameters.z}`), "steps.a.input.x", "z is none"],
    [
      "another root",
      input(`\${process.env}`),
      "steps.a.input.x",
      "must begin with parameters, steps, run, item, index",
    ],
    ["no JSONata", input(`\${1 +}`), "steps.a.input.x", "must be a JSONata expression"],
    ["code in an expression", input(`\${$eval('1')}`), "steps.a.input.x", "must not use $eval"],
    ["an expression without a fixed value", input(`\${$random()}`), "steps.a.input.x", "must not use $random"],
    [
      "a regular expression",
      input(`\${$match(run.id, /(a+)+$/)}`),
      "steps.a.input.x",
      "must not have a regular expression",
    ],
    ["item without forEach", input(`\${item}`), "steps.a.input.x", "only in a step with forEach"],
    [
      "a condition that is a text",
      definition({ steps: { a: { ...call, when: "true" } } }),
      "steps.a.when",
      "must be one expression",
    ],
    [
      "an input that nothing reads",
      definition({ steps: { a: { ...call, input: {} } } }),
      "steps.a.input",
      "only for a function",
    ],
    [
      "a function of another account",
      definition({ steps: { a: { function: "arn:aws:lambda:us-east-1:999999999999:function:ringmaster-user-f" } } }),
      "steps.a.function",
      "of this account",
    ],
    [
      "a function of the platform",
      definition({
        steps: { a: { function: "arn:aws:lambda:us-east-1:000000000000:function:ringmaster-run-credentials" } },
      }),
      "steps.a.function",
      "of this account",
    ],
    [
      "a module that was not bundled",
      definition({ steps: { a: { function: "../../etc/passwd" } } }),
      "steps.a.function",
      "must be a module that was bundled",
    ],
    [
      "a job that is none",
      definition({ steps: { a: { train: { dataset: "d@1", model: { type: "none" } } } } }),
      "steps.a.train.model",
      "must be",
    ],
    [
      "a default of another type",
      definition({ parameters: { n: { type: "integer", default: "1" } } }),
      "parameters.n",
      "must be of type integer",
    ],
    [
      "a default outside of its enum",
      definition({ parameters: { n: { type: "integer", default: 3, enum: [1] } } }),
      "parameters.n.default",
      "must be one of its enum",
    ],
  ])("refuses %s", async (_, body, path, rule) => {
    const answer = await post("/pipelines", body);
    expect([answer.status, answer.body.error.code]).toEqual([400, "INVALID_INPUT"]);
    const { problems } = answer.body.error.details as { problems: { path: string; rule: string }[] };
    expect(problems.filter((each) => each.path.startsWith(path) && each.rule.includes(rule))).not.toEqual([]);
  });

  it("reports every problem of a definition at once", async () => {
    const bad = { function: bundled, input: { x: `\${parameters.z}`, y: `\${steps.z.output}` }, after: ["q"] };
    const { body } = await post("/pipelines", definition({ steps: { a: bad, b: { ...call, when: "x" } } }));
    expect(body.error.details.problems).toHaveLength(4);
  });

  describe("of a stored pipeline", () => {
    const good = {
      name: "greet",
      parameters: { text: { type: "string" }, n: { type: "integer", default: 1, enum: [1, 2] } },
      steps: { a: { function: bundled, input: { x: `\${parameters.text}`, y: `n is \${parameters.n}` } } },
    };
    beforeAll(async () => {
      expect(await post("/pipelines", good)).toMatchObject({
        status: 201,
        body: { pipeline: { version: 1, steps: 1 } },
      });
    });
    const start = (config: object, rest: object = {}, team?: string) =>
      post("/pipelines/runs", { pipeline_id: "greet", config, ...rest }, team);

    it("stores an equal definition once", async () => {
      expect(await post("/pipelines", good)).toMatchObject({
        status: 200,
        body: { created: false, pipeline: { version: 1 } },
      });
    });

    it.each<[string, object, object, number, string, string]>([
      ["an unknown parameter", { text: "x", z: 1 }, {}, 400, "INVALID_INPUT", "must be a parameter of greet: text, n"],
      ["a missing parameter", {}, {}, 400, "INVALID_INPUT", "must be given"],
      ["a value of another type", { text: 1 }, {}, 400, "INVALID_INPUT", "must be of type string"],
      ["a value outside of its enum", { text: "x", n: 3 }, {}, 400, "INVALID_INPUT", "must be one of [1,2]"],
      [
        "an unknown step without cache",
        { text: "x" },
        { no_cache: ["z"] },
        400,
        "INVALID_INPUT",
        "must be a step of greet",
      ],
      ["an unknown version", { text: "x" }, { version: 9 }, 404, "PIPELINE_NOT_FOUND", "greet version 9"],
      ["an unknown pipeline", { text: "x" }, { pipeline_id: "none" }, 404, "PIPELINE_NOT_FOUND", "no pipeline none"],
    ])("refuses a run with %s", async (_, config, rest, status, code, text) => {
      const answer = await start(config, rest);
      expect([answer.status, answer.body.error.code]).toEqual([status, code]);
      expect(answer.body.error.message).toContain(text);
    });

    it("takes a parameter as data, whatever it contains", async () => {
      const text = `\${$eval('1')} \${parameters.n} {% $states.input %}`;
      const { body } = await start({ text });
      const { pipelineRunId } = body.run;
      const ports = pipelinePorts({ ...platform, randomId: () => "0".repeat(16) });
      const move = await beginStep({ ...ports, tokens: platform.tokens }, { pipelineRunId, step: "a" });
      expect(move).toMatchObject({ next: "call", resolved: { input: { x: text, y: "n is 1" } } });
    });

    it("starts one run and one execution for requests with the same key", async () => {
      const send = (config: object) =>
        callApp(app, "POST", "/pipelines/runs", { pipeline_id: "greet", config }, { "idempotency-key": "once" });
      const runs = await Promise.all([1, 2, 3].map(() => send({ text: "x" })));
      const ids = new Set(runs.map(({ body }) => body.run.pipelineRunId as string));
      expect([...ids]).toHaveLength(1);
      expect(calls.started.filter((name) => name.startsWith([...ids][0]!))).not.toEqual([]);
      expect(await send({ text: "y" })).toMatchObject({
        status: 409,
        body: { error: { code: "IDEMPOTENCY_CONFLICT" } },
      });
    });

    it("refuses to resume a running run, and to cancel an ended one", async () => {
      const { pipelineRunId } = (await start({ text: "x" })).body.run;
      expect((await post(`/pipelines/runs/${pipelineRunId}/resume`, {})).body.error.code).toBe("PIPELINE_RUN_RUNNING");
      const cancel = () => post(`/pipelines/runs/${pipelineRunId}/cancel`, undefined);
      expect((await cancel()).body.run.status).toBe("cancelled");
      expect((await cancel()).status).toBe(200);
      await platform.pipelines.createRun({
        ...(await platform.pipelines.findRun(pipelineRunId))!,
        pipelineRunId: "prun-done",
        status: "succeeded",
      });
      expect((await post("/pipelines/runs/prun-done/cancel", undefined)).body.error.code).toBe("PIPELINE_RUN_ENDED");
    });

    it("answers another team like one that has no such pipeline or run", async () => {
      const { pipelineRunId } = (await start({ text: "x" })).body.run;
      expect((await start({ text: "x" }, {}, "blue")).body.error.code).toBe("PIPELINE_NOT_FOUND");
      for (const path of ["", "/steps/a", "/steps/a/items"])
        expect(
          (
            await callApp(app, "GET", `/pipelines/runs/${pipelineRunId}${path}`, undefined, {
              "x-ringmaster-team": "blue",
            })
          ).status,
        ).toBe(404);
    });

    it("refuses pipelines that start each other without end", async () => {
      const ports = pipelinePorts({ ...platform, randomId: () => "1".repeat(16) });
      await expect(
        startPipelineRun(ports, { pipeline: "greet", parameters: { text: "x" }, actor: "a", depth: 9 }),
      ).rejects.toMatchObject({ code: "PIPELINE_TOO_DEEP", httpStatus: 409 });
    });
  });
});
