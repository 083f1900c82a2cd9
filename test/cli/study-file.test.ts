import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { prepareStudy } from "../../cli/study-file";
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
