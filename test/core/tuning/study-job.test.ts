import type { JobInput } from "../../../core/runs/job";
import { trialJob } from "../../../core/tuning/decide";
import type { Point } from "../../../core/tuning/space";
import { studyDefinitionSchema } from "../../../core/tuning/study";
import { jobInput } from "../../support/fixtures";

type Given = JobInput["hyperparameters"];

const trial = (hyperparameters: Given, params: Point) => {
  const study = studyDefinitionSchema.parse({
    name: "optimizers",
    job: jobInput({ hyperparameters }),
    objectives: [{ metric: "validation/loss", direction: "minimize" }],
    space: { "hyperparameters.learningRate": { type: "float", low: 0.001, high: 0.1 } },
    stop: { trials: 1 },
  });
  return trialJob(study, params).hyperparameters;
};

describe("the job of a trial", () => {
  it.each<[string, Given, Point, object]>([
    ["momentum of the job", { optimizer: "momentum", momentum: 0.5 }, { optimizer: "adam" }, { momentum: 0.9 }],
    ["momentum of the trial", {}, { optimizer: "sgd", momentum: 0.5 }, { momentum: 0.9 }],
    ["momentum that it uses", {}, { optimizer: "momentum", momentum: 0.5 }, { momentum: 0.5, nesterov: false }],
    ["beta1 of the job", { beta1: 0.8 }, { optimizer: "momentum" }, { optimizer: "momentum", nesterov: false }],
    ["beta1 that it uses", { beta1: 0.8 }, { optimizer: "adamw" }, { beta1: 0.8 }],
    ["gamma of the trial", {}, { schedule: "cosine", gamma: 0.5 }, { schedule: "cosine", minLearningRate: 0 }],
  ])("takes the options of the optimizer and schedule that it chooses: %s", (_what, given, chosen, expected) => {
    const params = Object.fromEntries(Object.entries(chosen).map(([key, value]) => [`hyperparameters.${key}`, value]));
    expect(trial(given, params)).toMatchObject(expected);
  });
});

it("a study's space and metrics are checked although its job is invalid", () => {
  const parsed = studyDefinitionSchema.safeParse({
    name: "optimizers",
    job: { ...jobInput(), seed: "one" },
    objectives: [{ metric: "validation/nothing", direction: "minimize" }],
    space: { "hyperparameters.learningRat": { type: "float", low: 0.001, high: 0.1 } },
    stop: { trials: 1 },
  });
  expect(parsed.error?.issues.map(({ path }) => path.join(".")).sort()).toEqual([
    "job.seed",
    "objectives.0.metric",
    "space.hyperparameters.learningRat",
  ]);
});

const onlyMomentum = (given: string) =>
  `has an effect only with optimizer momentum, but the trials' optimizer is ${given}`;
const choices = (...names: readonly string[]) => ({ type: "categorical", choices: names });
it.each<[string, Given, Record<string, unknown>, readonly string[]]>([
  ["the default optimizer", {}, {}, [onlyMomentum("adam")]],
  ["the job's optimizer", { optimizer: "momentum" }, {}, []],
  ["no optimizer of the search", {}, choices("adam", "sgd"), [onlyMomentum("adam, sgd")]],
  ["one optimizer of the search", {}, choices("adam", "momentum"), []],
])(
  "a study that searches an option is refused if no trial would use it: %s",
  (_what, hyperparameters, optimizer, rules) => {
    const parsed = studyDefinitionSchema.safeParse({
      name: "optimizers",
      job: jobInput({ hyperparameters }),
      objectives: [{ metric: "validation/loss", direction: "minimize" }],
      space: {
        "hyperparameters.momentum": { type: "float", low: 0.5, high: 0.99 },
        ...("type" in optimizer ? { "hyperparameters.optimizer": optimizer } : {}),
      },
      stop: { trials: 1 },
    });
    const problems = parsed.error?.issues ?? [];
    expect(problems.map(({ path }) => path.join("."))).toEqual(rules.map(() => "space.hyperparameters.momentum"));
    expect(problems.map(({ message }) => message.replace(/\. Search.*/, ""))).toEqual(rules);
  },
);
