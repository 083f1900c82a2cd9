import { readFileSync } from "node:fs";
import path from "node:path";
import { expandSettings, parseJobFile } from "../../cli/job-file";
import { InvalidInputError } from "../../core/errors";
import { jobSchema } from "../../core/runs/job";
import { jobInput } from "../support/fixtures";

const job = jobSchema.parse(jobInput());

describe("settings with several values", () => {
  it("are expanded to their cross product, the last one fastest", () => {
    expect(expandSettings(["lr=1e-3,1e-4", "seed=1..3"], () => job).map(({ settings }) => settings)).toEqual([
      ["hyperparameters.learningRate=0.001", "seed=1"],
      ["hyperparameters.learningRate=0.001", "seed=2"],
      ["hyperparameters.learningRate=0.001", "seed=3"],
      ["hyperparameters.learningRate=0.0001", "seed=1"],
      ["hyperparameters.learningRate=0.0001", "seed=2"],
      ["hyperparameters.learningRate=0.0001", "seed=3"],
    ]);
    expect(expandSettings([], () => job)).toEqual([{ settings: [], swept: [] }]);
  });

  it.each([
    ["model.hidden=[256,128]", ["model.hidden=[256,128]"]],
    ["model.hidden=[8],[16, 8]", ["model.hidden=[8]", "model.hidden=[16,8]"]],
    ["tags={a: b},{a: c}", ['tags={"a":"b"}', 'tags={"a":"c"}']],
    ["notes='a, b',c", ['notes="a, b"', 'notes="c"']],
    ["lr=0.1", ["hyperparameters.learningRate=0.1"]],
    ['notes="a, b"', ['notes="a, b"']],
    ["epochs=3", ["hyperparameters.epochs=3"]],
    ["optimizer=adam,sgd", ['hyperparameters.optimizer="adam"', 'hyperparameters.optimizer="sgd"']],
    ["no-path", ["no-path"]],
  ])("%s has these values", (setting, expected) => {
    expect(expandSettings([setting], () => job).flatMap(({ settings }) => settings)).toEqual(expected);
  });

  it.each([
    [["seed=5..1"], "must be a range FIRST..LAST that ascends"],
    [["seed=1..1000", "lr=1,2"], "at most 1000 runs, but the values give 2000"],
  ])("%s is refused", (settings, message) => {
    expect(() => expandSettings(settings, () => job)).toThrow(message);
    expect(() => expandSettings(settings, () => job)).toThrow(/^the settings are not valid: /);
  });
});

const good = `experiment: digits
dataset: digits@1
model:
  type: mlp
  hidden: [32]
hyperparameters:
  learningRate: 0.01
  batchSize: 64
resources:
  workers: 2
`;

function problemsOf(text: string, overrides: readonly string[] = []) {
  try {
    parseJobFile("job.yaml", text, overrides);
  } catch (error) {
    if (error instanceof InvalidInputError) return error.details.problems;
    throw error;
  }
  return [];
}

describe("the job file", () => {
  it("is accepted as docs/jobs.md shows it", () => {
    const page = readFileSync(path.join(__dirname, "../../docs/jobs.md"), "utf8");
    const [, shown] = /```yaml\n(experiment: [\s\S]*?)```/.exec(page) ?? [];
    expect(problemsOf(shown!)).toEqual([]);
    expect(parseJobFile("job.yaml", shown!).job.hyperparameters).toMatchObject({
      beta1: 0.9,
      beta2: 0.999,
      epsilon: 1e-8,
    });
  });

  it("reports all problems of a plan with their lines", () => {
    const plan = `features:
  plan:
    - { kind: bucketize, column: a }
    - { kind: log, column: a, name: b }
    - { kind: log, column: c, name: b }
`;
    expect(problemsOf(good + plan)).toMatchObject([
      { path: "features.plan[0].boundaries", line: 13, rule: expect.stringContaining("quantiles is required") },
      { path: "features.plan[2].name", line: 15, value: "b", rule: expect.stringContaining("must differ") },
    ]);
    const more = `features:
  plan:
    - { kind: log, column: a, indicator: true }
    - { kind: number, column: c, name: A_log_missing }
    - { kind: window, column: a, aggregate: sum, over: 1d }
`;
    expect(problemsOf(good + more)).toMatchObject([
      { path: "features.plan[1].name", line: 14, rule: expect.stringContaining("A_log_missing, which step 1 gives") },
      { path: "features.plan[2].kind", line: 15, rule: expect.stringContaining("must not be a window") },
    ]);
    expect(problemsOf(`${good}features: { plan: [{ kind: square, column: a }, { kind: log }] }`)).toMatchObject([
      { path: "features.plan[0].kind", line: 11, value: "square" },
      { path: "features.plan[1].column", line: 11, rule: "is required" },
    ]);
  });

  it("has the content of the plan that it names", () => {
    const plan = "name: houses\nsteps: [{ kind: log, column: price }]\n";
    const read = (file: string) => (file === "plans/houses.yaml" ? plan : "name: x\nsteps: [{ kind: log }]\n");
    const { features } = parseJobFile("job.yaml", `${good}features: { plan: plans/houses.yaml }`, [], read).job;
    expect(features.plan).toMatchObject({
      name: "houses",
      steps: [{ kind: "log", column: "price", name: "price_log" }],
    });
    expect(() => parseJobFile("job.yaml", `${good}features: { plan: x.yaml }`, [], read)).toThrow(
      /x\.yaml has a problem/,
    );
    expect(problemsOf(`${good}features: { plan: x.yaml }`)).toMatchObject([{ path: "features.plan", line: 11 }]);
  });

  it("records TF32 where a worker has a GPU, and nothing of it where it has none", () => {
    const tf32Of = (...overrides: string[]) => parseJobFile("job.yaml", good, overrides).job.resources.tf32;
    expect(tf32Of()).toBeUndefined();
    expect(tf32Of("resources.gpusPerWorker=1")).toBe(false);
    expect(tf32Of("resources.gpusPerWorker=1", "resources.tf32=true")).toBe(true);
  });

  it("gives a worker with a GPU 8 GiB of memory, and refuses less than 4", () => {
    const memoryOf = (...overrides: string[]) =>
      parseJobFile("job.yaml", good, overrides).job.resources.memoryMbPerWorker;
    const gpu = "resources.gpusPerWorker=1";
    expect([memoryOf(), memoryOf(gpu)]).toEqual([2_048, 8_192]);
    expect(memoryOf(gpu, "resources.memoryMbPerWorker=4096")).toBe(4_096);
    expect(problemsOf(good, [gpu, "resources.memoryMbPerWorker=2048"])).toEqual([
      expect.objectContaining({
        path: "resources.memoryMbPerWorker",
        value: 2_048,
        rule: expect.stringMatching(/^must be at least 4096 where resources.gpusPerWorker is above 0/),
      }),
    ]);
    expect(problemsOf(good, [gpu, "resources.memoryMbPerWorker=x", "resources.workers=0"]).length).toBe(2);
  });

  it("gives a host with several GPUs as many workers, each with a GPU", () => {
    const { resources } = parseJobFile("job.yaml", good, [
      "resources.gpu={class: A100, count: 8}",
      "resources.workers=8",
    ]).job;
    expect(resources).toMatchObject({ workers: 8, gpusPerWorker: 1, memoryMbPerWorker: 8_192 });
    const { experiment, dataset, model } = parseJobFile("job.yaml", good, []).job;
    const job = jobSchema.parse({ experiment, dataset, model, resources: { gpu: { count: 4 } } });
    expect(job.resources).toMatchObject({ workers: 4, gpusPerWorker: 1, gpu: { count: 4 } });
    expect(jobSchema.parse(job)).toEqual(job);
  });

  it("takes overrides, also of sections that the file lacks", () => {
    const { job } = parseJobFile("job.yaml", good, [
      "resources.workers=3",
      "checkpoint.everySteps=7",
      "model.hidden=[8, 4]",
    ]);
    expect(job.resources.workers).toBe(3);
    expect(job.checkpoint.everySteps).toBe(7);
    expect(job.model).toMatchObject({ hidden: [8, 4] });
  });

  it("tells every problem at once, each with its line", () => {
    const problems = problemsOf(`experiment: Digits!
dataset: digits@0
model:
  type: mlp
  hiden: [32]
hyperparameters:
  learningRate: -1
  batchSize: 60
resources:
  workers: 9
`);
    expect(problems.map(({ line, path }) => [line, path])).toEqual([
      [1, "experiment"],
      [2, "dataset"],
      [5, "model.hiden"],
      [7, "hyperparameters.learningRate"],
      [10, "resources.workers"],
    ]);
    expect(problems.find(({ path }) => path === "hyperparameters.learningRate")).toMatchObject({
      value: -1,
      rule: "must be more than 0",
    });
  });

  it("has the source of the data next to the job", () => {
    const sourceOf = (text: string) =>
      parseJobFile("job.yaml", `${good.replace("@1", "")}data_source: ${text}\n`).dataSource;
    expect(sourceOf("s3://bucket/raw/")).toEqual({ paths: ["s3://bucket/raw/"] });
    expect(sourceOf("[a.csv, b.csv]")).toEqual({ paths: ["a.csv", "b.csv"] });
    expect(sourceOf("{ path: a.csv, label: y, missing: [NA] }")).toEqual({
      paths: ["a.csv"],
      label: "y",
      missing: ["NA"],
    });
    expect(parseJobFile("job.yaml", good)).not.toHaveProperty("dataSource");
    expect(parseJobFile("job.yaml", `${good.replace("@1", "")}data_source: a.csv`).job).not.toHaveProperty(
      "data_source",
    );
  });

  it("tells every problem of the data's source with those of the job", () => {
    expect(problemsOf(`${good}data_source: a.csv\nseed: -1`)).toMatchObject([
      { path: "dataset", line: 2, value: "digits@1", rule: expect.stringContaining("where data_source is given") },
      { path: "seed", line: 12 },
    ]);
    const source = (text: string) => problemsOf(`${good.replace("@1", "")}data_source: ${text}\n`);
    expect(source("7")).toMatchObject([{ path: "data_source", value: 7, line: 11 }]);
    expect(source("{}")).toMatchObject([{ path: "data_source.path", rule: expect.stringContaining("is required") }]);
    expect(source("{ path: a.csv, colour: red, size: big }")).toMatchObject([
      { path: "data_source.size", value: "big" },
      { path: "data_source.colour", rule: expect.stringContaining("not a known key") },
    ]);
    expect(source("'s3://ada:secret@host/a.csv'")).toMatchObject([
      { value: "s3://ada:***@host/a.csv", rule: expect.stringContaining("must have no password") },
    ]);
  });

  it.each([
    ["workers more than micro-batches", ["resources.workers=9"], "resources.workers", 9],
    ["a batch that does not divide", ["hyperparameters.batchSize=60"], "hyperparameters.batchSize", 60],
    ["fewer workers than the least", ["resources.minWorkers=3"], "resources.minWorkers", 3],
    ["WebAssembly on a GPU", ["resources.gpusPerWorker=1", "resources.backend=wasm"], "resources.backend", "wasm"],
    ["a cluster on spot", ["resources.placement=cluster"], "resources.placement", "cluster"],
    ["workers that do not fill their hosts", ["resources.gpu.count=4", "resources.workers=6"], "resources.workers", 6],
    ["a GPU class without GPUs", ["resources.gpu.class=L4", "resources.gpusPerWorker=0"], "resources.gpusPerWorker", 0],
    ["an unknown GPU class", ["resources.gpu.class=V100"], "resources.gpu.class", "V100"],
    [
      "more GPUs than a host",
      ["resources.gpu={class: L4, count: 6}", "resources.workers=6", "resources.vcpusPerWorker=99"],
      "resources.gpu",
      { class: "L4", count: 6 },
    ],
    [
      "more memory than a host",
      ["resources.gpu={count: 8}", "resources.workers=8", "resources.memoryMbPerWorker=262144"],
      "resources.gpu",
      { count: 8 },
    ],
    ["TF32 without a GPU", ["resources.tf32=true"], "resources.tf32", true],
    ["an unknown precision", ["hyperparameters.precision=int8"], "hyperparameters.precision", "int8"],
    [
      "16 bits on WebAssembly",
      ["hyperparameters.precision=bfloat16", "resources.backend=wasm"],
      "hyperparameters.precision",
      "bfloat16",
    ],
    [
      "a loss scale with a sharded optimizer",
      ["hyperparameters.precision=float16", "resources.shardOptimizer=true"],
      "hyperparameters.precision",
      "float16",
    ],
    [
      "16 bits with TF32",
      ["hyperparameters.precision=bfloat16", "resources.gpusPerWorker=1", "resources.tf32=true"],
      "hyperparameters.precision",
      "bfloat16",
    ],
    [
      "a narrow format with a sharded optimizer",
      ["hyperparameters.gradientFormat=bfloat16", "resources.shardOptimizer=true"],
      "hyperparameters.gradientFormat",
      "bfloat16",
    ],
    ["an even kernel", ["model.type=cnn", "model.kernelSize=4", "model.hidden=[8]"], "model.kernelSize", 4],
    [
      "options that no row can hold",
      [`model={ type: module, path: x.ts, options: { x: ${"y".repeat(100_000)} } }`],
      "model.options",
      expect.anything(),
    ],
    ["a tag without end", [`tags.a=${"y".repeat(1_001)}`], "tags.a", expect.anything()],
    [
      "tags without number",
      [`tags={ ${Array.from({ length: 51 }, (_, i) => `t${i}: x`)} }`],
      "tags",
      expect.anything(),
    ],
  ])("refuses %s", (_name, overrides, path, value) => {
    expect(problemsOf(good, overrides)).toEqual([expect.objectContaining({ path, value })]);
  });

  const sections = ["experiment", "dataset", "model", "hyperparameters", "features", "resources", "evaluation", "tags"];
  it.each(sections.flatMap((section) => ["null", "[5]", "5"].map((value) => `${section}=${value}`)))(
    "refuses %s, and nothing else",
    (override) => expect(problemsOf(good, [override]).map(({ path }) => path)).toEqual([override.split("=")[0]]),
  );

  it.each([
    [["seed=1", "seed=2"], "seed=2", "seed"],
    [["model.hidden=[8]", "model={type: mlp, hidden: [16]}"], "model={type: mlp, hidden: [16]}", "model.hidden"],
    [["tags={a: b}", "tags.a=c"], "tags.a=c", "tags"],
  ])("refuses %j, of which one overwrites the other", (overrides, value, earlier) =>
    expect(problemsOf(good, overrides)).toEqual([
      { path: "--set", value, rule: `must not set what another --set sets: ${earlier}` },
    ]),
  );

  it("refuses a job without a model", () => {
    expect(problemsOf("experiment: digits\ndataset: digits\n").map(({ path }) => path)).toEqual(["model"]);
  });

  it.each<[string[], string, unknown, string]>([
    [
      ["optimizer=adam", "nesterov=true"],
      "nesterov",
      true,
      "must be left out where optimizer is adam: it has an effect only with optimizer momentum",
    ],
    [
      ["optimizer=sgd", "beta1=0.5"],
      "beta1",
      0.5,
      "must be left out where optimizer is sgd: it has an effect only with optimizer adam and adamw",
    ],
    [
      ["optimizer=adam", "momentum=0.95"],
      "momentum",
      0.95,
      "must be left out where optimizer is adam: it has an effect only with optimizer momentum",
    ],
    [["optimizer=momentum", "beta2=0.5"], "beta2", 0.5, "must be left out where optimizer is momentum"],
    [
      ["minLearningRate=0"],
      "minLearningRate",
      0,
      "must be left out where schedule is constant: it has an effect only with schedule cosine",
    ],
    [["schedule=cosine", "minLearningRate=0.01"], "minLearningRate", 0.01, "must be less than learningRate (0.01)"],
    [
      ["schedule=cosine", "gamma=0.5"],
      "gamma",
      0.5,
      "must be left out where schedule is cosine: it has an effect only with schedule step",
    ],
    [["schedule=step"], "stepSize", undefined, "is required where schedule is step: the number of optimizer steps"],
    [["optimizer=momentum", "momentum=0", "nesterov=true"], "nesterov", true, "must be false where momentum is 0"],
    [["epsilon=0"], "epsilon", 0, "must be at least 1e-30"],
  ])("refuses the hyperparameters %o", (given, field, value, rule) => {
    const overrides = given.map((one) => `hyperparameters.${one}`);
    const [problem, ...more] = problemsOf(good, overrides);
    expect(more).toEqual([]);
    expect(problem).toMatchObject({ path: `hyperparameters.${field}`, rule: expect.stringContaining(rule) });
    expect(problem?.value).toBe(value);
  });

  it("reports an option without effect next to a field of another type", () => {
    const overrides = ["epochs=many", "nesterov=true", "stepSize=3"].map((one) => `hyperparameters.${one}`);
    const paths = problemsOf(good, overrides).map(({ path }) => path);
    expect(paths.sort()).toEqual(["epochs", "nesterov", "stepSize"].map((field) => `hyperparameters.${field}`));
    const unknown = ["optimizer=sdg", "beta1=0.5"].map((one) => `hyperparameters.${one}`);
    expect(problemsOf(good, unknown).map(({ path }) => path)).toEqual(["hyperparameters.optimizer"]);
  });

  it("says which file is no YAML, and where", () => {
    expect(problemsOf("experiment: [1,\n  2")[0]).toMatchObject({ line: expect.any(Number) });
  });

  it.each([
    ["an alias of nothing", "experiment: *nothing", /Unresolved alias/],
    [
      "aliases that unfold without end",
      `a: &a [1]\nb: &b [${"*a,".repeat(20)}]\nc: &c [${"*b,".repeat(20)}]\nd: [${"*c,".repeat(20)}]`,
      /alias count/,
    ],
  ])("refuses %s", (_name, text, rule) => {
    expect(problemsOf(text)).toEqual([{ path: "", rule: expect.stringMatching(rule) }]);
  });

  it.each(["resources.workers", "=3", "a..b=1", "experiment.deep=1"])("refuses the override %s", (override) => {
    expect(problemsOf(good, [override])).toEqual([expect.objectContaining({ path: "--set" })]);
  });
});
