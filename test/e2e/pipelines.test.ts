import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { TestStack, toyCsv, toyJob, toySchema, until } from "./harness";

interface Details {
  readonly run: {
    readonly pipelineRunId: string;
    readonly status: string;
    readonly failure?: { readonly message: string };
  };
  readonly steps: readonly {
    readonly name: string;
    readonly state?: { readonly status: string; readonly why?: string; readonly attempt: number };
  }[];
}

/** An expression. */
const x = (text: string) => `\${${text}}`;

const pipeline = `name: weekly
parameters:
  rows: { type: integer, default: 6 }
steps:
  make:
    function: src/make.ts
    input: { rows: "${x("parameters.rows")}" }
    output: { list: array }
  square: { function: src/square.ts, forEach: "${x("steps.make.output.list")}", input: { n: "${x("item")}" }, concurrency: 2 }
  total: { function: src/total.ts, input: { values: "${x("steps.square.output")}" } }
  fit: { train: job.yaml, after: [total] }
  large: { function: src/total.ts, when: "${x("steps.total.output.total > 1000")}", input: { values: [1] } }
  small: { function: src/total.ts, when: "${x("steps.total.output.total <= 1000")}", input: { values: [2] } }
  either: { function: src/total.ts, join: any, after: [large, small, fit], input: { values: [3] } }
  runs: { api: { operation: getTrainingRun, params: { runId: "${x("steps.fit.output.runId")}" } } }
finally:
  report: { function: src/total.ts, input: { values: [4] } }
`;

describe("pipelines", () => {
  const stack = new TestStack();
  afterAll(() => stack.remove());
  const write = (name: string, text: string): string => {
    mkdirSync(dirname(join(stack.directory, name)), { recursive: true });
    return stack.file(name, text);
  };
  const statuses = ({ steps }: Details) => Object.fromEntries(steps.map(({ name, state }) => [name, state?.status]));
  let file = "";

  beforeAll(async () => {
    await stack.up();
    const csv = write("toy.csv", toyCsv(300));
    await stack.json(["datasets", "push", "toy", "--file", csv, "--schema", write("schema.yaml", toySchema)]);
    write("job.yaml", toyJob(1));
    write("src/rows.ts", "export const rowsOf = (rows: number) => Array.from({ length: rows }, (_, i) => i);");
    write(
      "src/make.ts",
      'import { rowsOf } from "./rows";\nexport default ({ rows }: { rows: number }) => ({ list: rowsOf(rows) });',
    );
    write(
      "src/square.ts",
      "export default async ({ n }: { n: number }) => {\n  await new Promise((wait) => setTimeout(wait, 200));\n  return n * n;\n};",
    );
    write(
      "src/total.ts",
      "export default ({ values }: { values: number[] }) => ({ total: values.reduce((a, b) => a + b, 0) });",
    );
    file = write("pipeline.yaml", pipeline);
  });

  it("lose nothing when the stack is killed in the middle of a run, and run nothing twice", async () => {
    const { run } = await stack.json<{ run: Details["run"] }>(["pipelines", "run", file]);
    const details = () => stack.get<Details>(`/pipelines/runs/${run.pipelineRunId}`);
    await until("the first step's end", async () =>
      (await details()).steps.find(({ name }) => name === "make")?.state?.status === "succeeded" ? true : undefined,
    );
    process.kill((await stack.json<{ pid: number }>(["status"])).pid, "SIGKILL");
    await stack.up();
    const ended = await until("the run's end", async () => {
      const now = await details();
      return now.run.status === "running" ? undefined : now;
    });
    expect({ ...ended.run, statuses: statuses(ended) }).toMatchObject({
      status: "succeeded",
      statuses: {
        make: "succeeded",
        square: "succeeded",
        total: "succeeded",
        fit: "succeeded",
        large: "skipped",
        small: "succeeded",
        either: "succeeded",
        runs: "succeeded",
        report: "succeeded",
      },
    });
    const output = (step: string) => stack.json<unknown>(["pipelines", "output", run.pipelineRunId, step]);
    expect(await output("total")).toEqual({ total: 55 });
    expect(await output("fit")).toMatchObject({ status: "completed", metrics: { accuracy: expect.any(Number) } });
    expect(await output("runs")).toMatchObject({ run: { status: "completed" } });
  });

  it("reuse everything that did not change, and name the file that did", async () => {
    const again = await stack.json<Details>(["pipelines", "run", "weekly", "--wait"]);
    const why = (details: Details) => Object.fromEntries(details.steps.map(({ name, state }) => [name, state?.why]));
    for (const step of ["make", "total", "fit", "either", "report"])
      expect(why(again)[step]).toMatch(/^hit: as in run prun-/);
    write("src/rows.ts", "export const rowsOf = (rows: number) => Array.from({ length: rows }, (_, i) => i + 0);");
    const edited = await stack.json<Details>(["pipelines", "run", file, "--wait"]);
    expect(why(edited)).toMatchObject({
      make: "miss: rows.ts changed",
      total: expect.stringMatching(/^hit/),
      fit: expect.stringMatching(/^hit/),
    });
    const other = await stack.json<Details>(["pipelines", "run", "weekly", "--param", "rows=3", "--wait"]);
    expect(why(other)["make"]).toBe("miss: input.rows 6 → 3");
    const text = await stack.run("pipelines", "show", other.run.pipelineRunId);
    expect(text.stdout).toContain("miss: input.rows 6 → 3");
  });

  it("fail with the user's error, run their steps of finally, and resume with the rest", async () => {
    write("src/total.ts", 'export default () => {\n  throw new RangeError("no rows");\n};');
    const failed = await stack.json<Details>(["pipelines", "run", file, "--wait"], [1]);
    expect(failed.run.failure?.message).toBe("src/total.ts: RangeError: no rows");
    expect(statuses(failed)).toMatchObject({ square: "succeeded", total: "failed", report: "failed" });
    write(
      "src/total.ts",
      "export default ({ values }: { values: number[] }) => ({ total: 1 + values.reduce((a, b) => a + b, 0) });",
    );
    await stack.json(["pipelines", "push", file]);
    const resumed = await stack.json<Details>(["pipelines", "resume", failed.run.pipelineRunId, "--newest", "--wait"]);
    expect(resumed.run.status).toBe("succeeded");
    expect(resumed.steps.find(({ name }) => name === "make")?.state?.why).toContain("which it resumes");
  });

  it.each([
    [
      "a cycle",
      "name: bad\nsteps:\n  a: { function: src/make.ts, after: [b] }\n  b: { function: src/make.ts, after: [a] }\n",
      /must not depend on itself: (a → b → a|b → a → b)/,
    ],
    [
      "an unknown step, with its line",
      `name: bad\nsteps:\n  a:\n    function: src/make.ts\n    input: { n: "${x("steps.c.output")}" }\n`,
      /line 5: steps\.a\.input\.n is "\$\{steps\.c\.output\}|line 5: steps\.a\.input\.n is "c", but must be a step/,
    ],
    [
      "a field that the output lacks",
      `name: bad\nsteps:\n  a: { function: src/make.ts, output: { list: array } }\n  b: { function: src/make.ts, input: { n: "${x("steps.a.output.lists")}" } }\n`,
      /line 4: .*must name a field of the output of a: list/,
    ],
    [
      "two kinds in one step",
      "name: bad\nsteps:\n  a: { function: src/make.ts, fail: no }\n",
      /line 3: .*exactly one of function, train, api, pipeline, fail; it has function and fail/,
    ],
    [
      "an ARN of another account",
      "name: bad\nsteps:\n  a: { function: 'arn:aws:lambda:eu-west-1:1:function:x' }\n",
      /only such functions of this account/,
    ],
    [
      "code in an expression",
      `name: bad\nsteps:\n  a: { function: src/make.ts, input: { n: "${x("$eval('1')")}" } }\n`,
      /must not use \$eval/,
    ],
    [
      "an operation that the API lacks",
      "name: bad\nsteps:\n  a: { api: { operation: fly } }\n",
      /api\.operation is "fly", but must be the id of an operation/,
    ],
    [
      "braces that do not balance",
      `name: bad\nsteps:\n  a: { function: src/make.ts, input: { n: '${x("{item")}' } }\n`,
      /has an expression that must end with }/,
    ],
    [
      "a module that does not exist",
      "name: bad\nsteps:\n  a: { function: src/none.ts }\n",
      /src\/none.ts.*must be a file that exists/,
    ],
  ])("are refused with %s", async (_, text, message) => {
    const { code, stderr } = await stack.run("pipelines", "push", write("bad.yaml", text));
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
  });

  it.each([
    [["run", "weekly", "--param", "row=1"], /row must be a parameter of weekly: rows/],
    [["run", "weekly", "--param", "rows=many"], /rows is "many", but must be of type integer/],
    [["run", "none"], /there is no pipeline none/],
    [["show", "prun-0000000000000000"], /there is no pipeline run/],
  ])("refuse %j", async (args, message) => {
    const { code, stderr } = await stack.run("pipelines", ...args);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
  });
});
