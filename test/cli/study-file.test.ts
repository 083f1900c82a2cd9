import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { prepareStudy } from "../../cli/commands/studies";
import { InvalidInputError } from "../../core/errors";
import { temporaryFolder } from "../support/temporary-folder";
import { toyJob } from "../support/toy";

const folder = temporaryFolder("study-file");

const study = (trials: number): string => `name: toy
job: job.yaml
objective: { metric: validation/loss, direction: minimize }
space: { hyperparameters.learningRate: { type: float, low: 0.001, high: 0.1 } }
stop: { trials: ${trials} }
`;
const absent = new Error("the API is called");
const prepare = () =>
  prepareStudy(join(folder, "study.yaml"), { set: [], diff: false }, () => {
    throw absent;
  });

it("pushes the data that the study's job names, after the study is found to be valid", async () => {
  writeFileSync(join(folder, "job.yaml"), toyJob(1));
  writeFileSync(join(folder, "study.yaml"), study(3));
  expect((await prepare()).job.dataset).toBe("toy");
  writeFileSync(join(folder, "job.yaml"), `${toyJob(1)}data_source: data.csv\n`);
  await expect(prepare()).rejects.toBe(absent);
  writeFileSync(join(folder, "study.yaml"), study(-1));
  await expect(prepare()).rejects.toThrow(InvalidInputError);
});

it("reports the problems of the study and of its job together", async () => {
  writeFileSync(join(folder, "job.yaml"), `${toyJob(0)}nosuch: 1\n`);
  writeFileSync(join(folder, "study.yaml"), `${study(-1)}sampler: grid\nscheduler: { type: asha, interval: 3 }\n`);
  const error = await prepare().catch((thrown) => thrown);
  expect(error).toBeInstanceOf(InvalidInputError);
  expect(error.message).toContain("study.yaml and its job have 5 problems");
  expect(error.details.problems).toMatchObject([
    { line: 5, path: "stop.trials", value: -1 },
    { line: 6, path: "sampler", value: "grid", rule: expect.stringContaining("e.g. { type: tpe }") },
    {
      line: 7,
      path: "scheduler.interval",
      rule: "is not a setting of type asha, so remove it: it has minEpochs, factor",
    },
    { path: "job.hyperparameters.epochs", rule: "must be at least 1 (line 5 of the job file)" },
    { path: "job.nosuch", rule: expect.stringContaining("line 10 of the job file") },
  ]);
});

it("says that the job is a path, and which one cannot be read", async () => {
  writeFileSync(join(folder, "study.yaml"), study(1).replace("job.yaml", "{ experiment: toy }"));
  await expect(prepare()).rejects.toThrow(/job is .* must be the path of a job file/);
  writeFileSync(join(folder, "study.yaml"), study(-1).replace("job.yaml", "absent.yaml"));
  await expect(prepare()).rejects.toThrow(/stop.trials is -1.*; job is ".*absent.yaml", but must be a readable file/);
});
