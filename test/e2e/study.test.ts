import { readdirSync, readFileSync } from "node:fs";
import type { RunDetails } from "../../core/runs/shapes";
import type { StudyState } from "../../core/tuning/ports";
import { TestStack, toyCsv, toyJob, toySchema, until } from "./harness";

const study = (name: string, more = ""): string => `name: ${name}
job: job.yaml
objective: { metric: validation/loss, direction: minimize }
space:
  hyperparameters.learningRate: { type: float, low: 0.0001, high: 0.3, log: true }
  hyperparameters.optimizer: { type: categorical, choices: [adam, momentum] }
  hyperparameters.momentum: { type: float, low: 0.5, high: 0.9, step: 0.2, when: { parameter: hyperparameters.optimizer, in: [momentum] } }
scheduler: { type: hyperband, factor: 2 }
parallel: 2
stop: { trials: 6 }
best: { registerAs: toy }
${more}`;

describe("a study", () => {
  const calm = TestStack.of("default");
  const hit = new TestStack();
  afterAll(() => Promise.all([calm.remove(), hit.remove()]));

  const prepare = async (stack: TestStack) => {
    await stack.up();
    const csv = stack.file("toy.csv", toyCsv(900));
    await stack.json(["datasets", "push", "toy", "--file", csv, "--schema", stack.file("schema.yaml", toySchema)]);
    stack.file("job.yaml", toyJob(4).replace("registerAs: toy\n", ""));
    return stack.file("study.yaml", study("rates"));
  };
  const stateOf = (stack: TestStack) => stack.get<StudyState>("/hpo/studies/rates");
  const ended = (stack: TestStack) =>
    until("the study's end", async () => {
      const state = await stateOf(stack).catch(() => undefined);
      return state?.study?.bestRunId === undefined ? undefined : state;
    });
  /** Everything that must not depend on what was killed: not times, cost, or the number of segments. */
  const resultsOf = ({ study, trials }: StudyState) => ({
    best: study.best,
    trials: trials.map(({ number, params, state, until, reports, values, reason }) => ({
      ...{ number, params, state, until, reports, values, reason },
    })),
  });
  const weightsOf = async (stack: TestStack, runId: string) => {
    const { steps } = await stack.get<RunDetails>(`/training-runs/${runId}`);
    const output = steps.find(({ step }) => step === "LaunchTraining")?.output;
    return (output as { readonly weightsSha256?: string } | undefined)?.weightsSha256;
  };

  it("has every problem reported at once, with its line, and creates nothing", async () => {
    await prepare(calm);
    const file = calm.file(
      "bad.yaml",
      `name: bad
job: job.yaml
objective: { metric: validation/nothing, direction: minimize }
space:
  hyperparameters.learningRat: { type: float, low: 0.1, high: 1 }
  hyperparameters.batchSize: { type: int, low: 64, high: 128, step: 100 }
  hyperparameters.optimizer: { type: categorical, choices: [adam, momentun] }
  a.b: { type: int, low: 1, high: 2, when: { parameter: c.d, in: [1] } }
  c.d: { type: int, low: 1, high: 2, when: { parameter: a.b, in: [1] } }
scheduler: { type: hyperband }
stop: {}
`,
    );
    const { code, stderr } = await calm.run("study", "create", file);
    expect(code).toBe(2);
    for (const part of [
      "line 3: objective.metric",
      "line 5: space.hyperparameters.learningRat is not a whole path of the job",
      "line 6: space.hyperparameters.batchSize.step",
      'line 7: space.hyperparameters.optimizer.choices[1] is "momentun"',
      "line 8: space.a.b.when.parameter",
      "must not depend on itself: a.b → c.d → a.b",
      "line 11: stop is {}",
    ])
      expect(stderr).toContain(part);
    expect(
      (await calm.run("study", "create", calm.file("empty.yaml", study("rates").replace(/^ {2}hyper.*\n/gm, "")))).code,
    ).toBe(2);
    expect(await calm.json(["study", "list"])).toEqual({ studies: [] });
  });

  it("ends with the same trials, curves and weights, whatever is killed", async () => {
    const [undisturbed, disturbed] = [calm.file("study.yaml", study("rates")), await prepare(hit)];
    await calm.json(["study", "create", undisturbed]);
    await hit.json(["study", "create", disturbed]);
    const killed = { worker: 0, driver: 0 };
    const survives = async () => (await stateOf(hit)).study.bestRunId === undefined;
    while ((killed.worker < 2 || killed.driver < 1) && (await survives())) {
      killed.worker += Math.min(1, killProcesses(hit.connection.endpoint, /trainer/));
      if (killed.worker > 0) killed.driver += Math.min(1, killProcesses(hit.connection.endpoint, /drive-study/));
      await new Promise((wait) => setTimeout(wait, 500));
    }
    process.kill((await hit.json<{ pid: number }>(["status"])).pid, "SIGKILL");
    await hit.up();
    const [expected, found] = [await ended(calm), await ended(hit)];
    expect(killed.worker).toBeGreaterThan(0);
    expect(found.study.status).toBe("completed");
    expect(resultsOf(found)).toEqual(resultsOf(expected));
    const weights = await weightsOf(hit, found.trials[found.study.best[0]!]!.runId!);
    expect(weights).toMatch(/^[0-9a-f]{64}$/);
    expect(weights).toBe(await weightsOf(calm, expected.trials[expected.study.best[0]!]!.runId!));
  }, 400_000);

  it("shows its trials as children of its run, and its best trial is registered", async () => {
    const { study, trials } = await stateOf(calm);
    const { runs } = await calm.json<{ runs: readonly { run: { runId: string; name: string } }[] }>([
      ...["runs", "search", `parent_run_id = "${study.parentRunId}"`],
    ]);
    expect(runs.map(({ run }) => run.name)).toContain("rates-0");
    const children = runs.map(({ run }) => run.runId);
    for (const { runId } of trials) if (runId !== undefined) expect(children).toContain(runId);
    expect(await calm.json(["study", "best", "rates"])).toMatchObject({ best: [{ number: study.best[0] }] });
    await calm.json(["runs", "watch", study.bestRunId!], [0, 3]);
    expect(await calm.json(["models", "show", "toy"])).toMatchObject({ versions: [{ runId: study.bestRunId }] });
    const report = calm.file("report.html", "");
    await calm.json(["study", "page", "rates", "--html", report]);
    const page = readFileSync(report, "utf8");
    for (const part of [
      "Best value so far",
      "Learning curves",
      "Parallel coordinates",
      "Slice: hyperparameters.optimizer",
    ])
      expect(page).toContain(part);
    expect(page).not.toContain("href=");
    const trialPage = calm.file("trial.html", "");
    const trialRun = trials.find(({ number }) => number === study.best[0])?.runId as string;
    await calm.json(["runs", "page", trialRun, "--html", trialPage]);
    expect(readFileSync(trialPage, "utf8")).toContain(`<code>ringmaster models register ${trialRun} --as NAME</code>`);
    await registersByForm(trialRun);
    // The best trial was trained to the end, so its training is reused.
    expect(await weightsOf(calm, study.bestRunId!)).toBe(await weightsOf(calm, trials[study.best[0]!]!.runId!));
  });

  /** Registers a run as a browser does from the run's page: two forms, then the run's page again. */
  async function registersByForm(runId: string): Promise<void> {
    const page = `${calm.url}/api/v1/pages/runs/${runId}`;
    const send = (method: string, path: string, site: string) =>
      fetch(page + path, { method, redirect: "manual", headers: { accept: "text/html", "sec-fetch-site": site } });
    expect(await (await send("GET", "", "none")).text()).toContain(`method="get" action="../runs/${runId}/register"`);
    const confirmation = await (await send("GET", "/register?as=by-form", "none")).text();
    expect(confirmation).toContain('method="post" action="register?as=by-form"');
    const answered = await send("POST", "/register?as=by-form", "same-origin");
    expect([answered.status, answered.headers.get("location")]).toEqual([303, `../${runId}`]);
    expect((await send("POST", "/register?as=by-form", "same-origin")).status).toBe(303);
    expect(await calm.json(["models", "show", "by-form"])).toMatchObject({ versions: [{ version: 1, runId }] });
    expect(await (await send("GET", "", "none")).text()).not.toContain("/register");
  }

  it("is the same study if created twice, and can be extended", async () => {
    const file = calm.file("study.yaml", study("rates"));
    expect(await calm.json(["study", "create", file])).toMatchObject({ created: false });
    const { stdout } = await calm.run("study", "create", file);
    expect(stdout).toContain(
      "already exists and is completed; continue it with other limits: ringmaster study extend rates",
    );
    const other = calm.file("other.yaml", study("rates").replace("parallel: 2", "parallel: 1"));
    expect(await calm.run("study", "create", other)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("already exists with another definition"),
    });
    const stopped = (await stateOf(calm)).trials.find(({ state }) => state === "stopped")!;
    const resume = `${stopped.number}=4`;
    expect((await calm.run("study", "extend", "rates", "--resume", "99=4")).stderr).toContain("must be less than 6");
    await calm.json(["study", "extend", "rates", "--resume", resume, "--trials", "7"]);
    const state = await ended(calm);
    expect(state.trials).toHaveLength(7);
    expect(state.trials[stopped.number]).toMatchObject({ state: "completed", until: 4 });
    expect(state.trials[stopped.number]!.reports.slice(0, stopped.reports.length)).toEqual(stopped.reports);
  });

  it("knows the trials of an earlier study", async () => {
    const text = study("warm", "warmStart: [{ study: rates }]\nsampler: { type: auto, seed: 9 }")
      .replace("type: hyperband, factor: 2", "type: none")
      .replace("trials: 6", "trials: 2");
    await calm.json(["study", "create", calm.file("warm.yaml", text)]);
    const state = await until("the end", async () => {
      const found = await calm.get<StudyState>("/hpo/studies/warm");
      return found.study.status === "completed" ? found : undefined;
    });
    expect(state.study.warmTrials).toBeGreaterThan(4);
    expect(state.trials.map((trial) => trial.state)).toEqual(["completed", "completed"]);
  });

  it("copies the weights of better members in population-based training, with changed settings", async () => {
    // Other settings than those of the studies before, whose trainings would be reused whole.
    const text = study("population", "sampler: { type: random, seed: 77 }\n")
      .replace("type: hyperband, factor: 2", "type: population, population: 3, interval: 1, fraction: 0.4, seed: 2")
      .replace("parallel: 2", "parallel: 3")
      .replace(/^best:.*\n/m, "");
    const refused = await calm.run("study", "create", calm.file("population.yaml", text));
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(
        /line 6: space.hyperparameters.optimizer cannot change while a member of a population trains/,
      ),
    ]);
    const fixed = text.replace(/^ {2}hyperparameters.(optimizer|momentum).*\n/gm, "");
    await calm.json(["study", "create", calm.file("population.yaml", fixed)]);
    const { trials } = await until("the end", async () => {
      const state = await calm.get<StudyState>("/hpo/studies/population");
      return state.study.status === "completed" ? state : undefined;
    });
    expect(trials.map(({ state, reason, reports }) => [state, reason, reports.map(({ epoch }) => epoch)])).toEqual(
      trials.map(() => ["completed", undefined, [1, 2, 3, 4]]),
    );
    const copies = trials.filter(({ from }) => from !== undefined);
    expect(copies.length).toBeGreaterThan(0);
    for (const { from, runId } of copies) {
      const { run } = await calm.get<RunDetails>(`/training-runs/${runId}`);
      expect(run.restoredFrom).toMatchObject({ runId: expect.stringMatching(/^run-/), epoch: from!.epoch });
    }
  });

  it("trains a module's trials in one job, each in a process of its own, with early stopping", async () => {
    calm.file(
      "model.ts",
      `import { defineTraining } from "ringmaster";
const trained = globalThis as { before?: boolean };
if (trained.before) throw new Error("another trial's state");
trained.before = true;
export default defineTraining({
  model: ({ tf, inputShape, outputs }) =>
    tf.sequential({ layers: [tf.layers.dense({ inputShape: [...inputShape], units: outputs })] }),
});
`,
    );
    const job = `${toyJob(6).replace("registerAs: toy\n", "")}earlyStopping: { metric: validation/loss, patience: 1 }\n`;
    calm.file(
      "module.yaml",
      job.replace("model: { type: mlp, hidden: [16] }", "model: { type: module, path: model.ts }"),
    );
    const text = `name: modules
job: module.yaml
objective: { metric: validation/loss, direction: minimize }
space:
  hyperparameters.learningRate: { type: float, low: 0.5, high: 3 }
sampler: { type: random, seed: 2 }
parallel: 1
stop: { trials: 3 }
`;
    await calm.json(["study", "create", calm.file("modules.yaml", text)]);
    const { trials } = await until("the end", async () => {
      const state = await calm.get<StudyState>("/hpo/studies/modules");
      return state.study.status === "completed" ? state : undefined;
    });
    expect(trials.map(({ state, reason }) => [state, reason])).toEqual(trials.map(() => ["completed", undefined]));
    const details = await Promise.all(trials.map(({ runId }) => calm.get<RunDetails>(`/training-runs/${runId}`)));
    expect(new Set(details.flatMap(({ workers }) => workers.map(({ jobId }) => jobId))).size).toBe(1);
    const epochs = trials.map(({ reports }) => reports.at(-1)?.epoch ?? 0);
    expect(Math.min(...epochs)).toBeLessThan(6);
  });

  it("records why a trial failed, and goes on", async () => {
    const text = study("failing")
      .replace("validation/loss", "test/r2")
      .replace("type: hyperband, factor: 2", "type: none");
    await calm.json(["study", "create", calm.file("failing.yaml", text.replace("trials: 6", "trials: 1"))]);
    const { study: failing, trials } = await until("the end", async () => {
      const state = await calm.get<StudyState>("/hpo/studies/failing");
      return state.study.status === "completed" ? state : undefined;
    });
    expect(failing.best).toEqual([]);
    expect(trials[0]).toMatchObject({
      state: "failed",
      reason: expect.stringMatching(/the metric test\/r2 was never logged; the run logged: .*test\/accuracy/),
    });
    expect((await calm.run("study", "best", "failing")).stderr).toContain("has no best trial");
  });
});

/** Kills the processes that a stack has started and whose command line matches. Returns how many there were. */
function killProcesses(endpoint: string, pattern: RegExp): number {
  const found = readdirSync("/proc").filter((entry) => {
    if (!/^\d+$/.test(entry)) return false;
    try {
      const ofStack = readFileSync(`/proc/${entry}/environ`, "utf8").includes(`AWS_ENDPOINT_URL=${endpoint}`);
      return ofStack && pattern.test(readFileSync(`/proc/${entry}/cmdline`, "utf8"));
    } catch {
      return false; // it has ended in the meantime
    }
  });
  for (const pid of found) {
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended in the meantime.
    }
  }
  return found.length;
}
