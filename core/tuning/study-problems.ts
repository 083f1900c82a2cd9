import * as z from "zod";
import { classificationMetricNames, regressionMetricNames } from "../evaluation/metrics";
import { isObject } from "../json-text";
import { issuesOf } from "../problems";
import { effectOf, type Hyperparameters } from "../runs/hyperparameters";
import { jobSchema } from "../runs/job";

/** Paths of a job that are the study's own. */
const fixedPaths = ["experiment", "registerAs", "name", "notes", "tags", "limits", "resources.market"];

/** Hyperparameters that a training can change where it continues from a checkpoint. */
const changeable: readonly string[] = [
  "learningRate",
  "momentum",
  "nesterov",
  "beta1",
  "beta2",
  "epsilon",
  "weightDecay",
  "schedule",
  "minLearningRate",
  "stepSize",
  "gamma",
  "warmupSteps",
  "clipNorm",
  "classWeights",
] satisfies (keyof Hyperparameters)[];

type Values = Readonly<Record<string, unknown>>;

/**
 * Creates the check of what connects a study's sections: each parameter with the job, and each metric with the model.
 * It runs even if a section or the job is invalid, so that a person sees all problems at once.
 * @param jobOf returns the job of the study, valid or not, or `undefined` if it is not known
 */
export function studyProblems(jobOf: (study: Values) => unknown): z.core.$ZodCheck<Values> {
  const check = z.check<Values>(({ value, issues }) => {
    const job = jobOf(value);
    if (!isObject(job)) return;
    const add = (path: readonly PropertyKey[], input: unknown, message: string) =>
      issues.push({ code: "custom", path: [...path], input, message });
    checkSpace(job, value, add);
    checkMetrics(job, value, add);
  });
  check._zod.def.when = ({ value }) => isObject(value);
  return check;
}

type Add = (path: readonly PropertyKey[], input: unknown, message: string) => void;

function checkSpace(job: Values, study: Values, add: Add): void {
  const { space, scheduler } = study;
  if (!isObject(space)) return;
  const isPopulation = isObject(scheduler) && scheduler["type"] === "population";
  if (isPopulation && (job["earlyStopping"] || Object.keys(space).some((path) => path.startsWith("earlyStopping.")))) {
    const rule = "cannot be population with earlyStopping in the job: a member takes over the checkpoints of others";
    add(["scheduler", "type"], "population", `${rule}. Leave one of the two out`);
  }
  for (const [path, parameter] of Object.entries(space)) {
    if (!isObject(parameter)) continue;
    const fixed = fixedPaths.find((one) => path === one || path.startsWith(`${one}.`));
    if (fixed !== undefined) {
      add(["space", path], undefined, `cannot be searched: ${fixed} is the same for all trials`);
      continue;
    }
    if (path === "hyperparameters.epochs" && isObject(scheduler) && scheduler["type"] !== "none") {
      add(["space", path], undefined, "cannot be searched with a scheduler, which decides the epochs of each trial");
      continue;
    }
    if (isObject(scheduler) && scheduler["type"] === "population" && !isChangeable(path)) {
      const others = changeable.map((field) => `hyperparameters.${field}`).join(", ");
      add(["space", path], undefined, `cannot change while a member of a population trains; only ${others} can`);
      continue;
    }
    const withoutEffect = effectProblem(job, space, path);
    if (withoutEffect !== undefined) {
      add(["space", path], undefined, withoutEffect);
      continue;
    }
    const problems = valuesOf(parameter).flatMap(([key, value]) =>
      settingProblems(job, path, value).map((rule) => ({ key, value, rule })),
    );
    const unknown = problems.find(({ rule }) => rule === unknownPath);
    if (unknown) add(["space", path], undefined, unknown.rule);
    else for (const { key, value, rule } of problems) add(["space", path, ...key], value, rule);
    const between = betweenEnds(parameter);
    if (problems.length === 0 && between !== undefined && settingProblems(job, path, between).length > 0) {
      add(["space", path, "type"], "float", "must be int, because the job permits whole numbers alone");
    }
  }
}

/** Returns why no trial could use a parameter; `undefined` if one may. */
function effectProblem({ hyperparameters }: Values, space: Values, path: string): string | undefined {
  const [section, field = ""] = path.split(".");
  const effect = section === "hyperparameters" ? effectOf(field) : undefined;
  if (effect === undefined) return undefined;
  const { of, values, standard } = effect;
  const searched = space[`hyperparameters.${of}`];
  const input = isObject(hyperparameters) ? hyperparameters[of] : undefined;
  const possible = searched === undefined ? [input ?? standard] : isObject(searched) ? searched["choices"] : undefined;
  if (!Array.isArray(possible) || possible.some((value) => values.includes(value as string))) return undefined;
  const used = `${of} ${values.join(" and ")}`;
  return `has an effect only with ${used}, but the trials' ${of} is ${possible.join(", ")}. Search hyperparameters.${of} too, set it in the job, or leave ${field} out`;
}

function isChangeable(path: string): boolean {
  const [section, field = ""] = path.split(".");
  return section === "hyperparameters" && changeable.includes(field);
}

const unknownPath = "is not a whole path of the job, such as hyperparameters.learningRate";

/** Returns the values of a parameter that decide whether the job accepts it: both ends, or each choice. */
function valuesOf(parameter: Values): readonly (readonly [key: readonly PropertyKey[], value: unknown])[] {
  const { type, low, high, choices } = parameter;
  if (type === "categorical") return Array.isArray(choices) ? choices.map((value, i) => [["choices", i], value]) : [];
  return [
    [["low"], low],
    [["high"], high],
  ];
}

/** Share of a range at which a float is hardly ever a whole number: the golden section. */
const betweenShare = 0.3819660112501051;

/** Returns a value of a float between its ends, which may be whole numbers by chance; `undefined` if it has none. */
function betweenEnds({ type, low, high, step }: Values): number | undefined {
  if (type !== "float" || typeof low !== "number" || typeof high !== "number") return undefined;
  const value = low + (typeof step === "number" ? step : betweenShare * (high - low));
  return value > low && value < high ? value : undefined;
}

/**
 * Returns the rules of the job that a value breaks at its own path. Rules that involve other settings are not checked
 * here: another parameter may change them, and a trial that breaks one fails with its message.
 */
function settingProblems(job: Values, path: string, value: unknown): readonly string[] {
  const parsed = jobSchema.safeParse(withSetting(job, path, value), { reportInput: true });
  if (parsed.success) return [];
  const parts = path.split(".");
  return issuesOf(parsed.error).flatMap((issue) => {
    const at = issue.path.map(String);
    if (issue.code === "unrecognized_keys") {
      const isOwn = issue.keys.some((key) => [...at, key].every((part, i) => part === parts[i]));
      return isOwn ? [unknownPath] : [];
    }
    if (issue.code === "custom") return [];
    if (!at.every((part, i) => part === parts[i] || i >= parts.length)) return [];
    return at.length < parts.length ? [unknownPath] : [messageOf(issue)];
  });
}

function messageOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "too_small":
      return `must be at least ${issue.minimum}, because the job permits nothing below it`;
    case "too_big":
      return `must be at most ${issue.maximum}, because the job permits nothing above it`;
    case "invalid_value":
      return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
    case "invalid_type":
      return `must be a value of the job's type: ${issue.expected === "int" ? "a whole number" : issue.expected}`;
    default:
      return issue.message;
  }
}

/** Returns the job with a value at a path, without a check. Sections on the way are created. */
export function withSetting(job: unknown, path: string, value: unknown): unknown {
  const [first = "", ...rest] = path.split(".");
  const section = isObject(job) ? job : {};
  return { ...section, [first]: rest.length === 0 ? value : withSetting(section[first], rest.join("."), value) };
}

function checkMetrics(job: Values, study: Values, add: Add): void {
  const { scheduler, constraints } = study;
  const pauses = isObject(scheduler) && scheduler["type"] !== "none";
  const objectives: (readonly [readonly PropertyKey[], unknown])[] = [
    [["objective"], study["objective"]],
    ...(Array.isArray(study["objectives"])
      ? study["objectives"].map((one, i) => [["objectives", i], one] as const)
      : []),
  ];
  for (const [i, [path, objective]] of objectives.entries()) {
    const metric = isObject(objective) ? objective["metric"] : undefined;
    if (typeof metric !== "string") continue;
    const problem =
      metricProblem(job, metric) ??
      (pauses && i <= 1 && !isLoggedByEpoch(job, metric)
        ? "must be a metric of validation/ with a scheduler, which compares trials after each epoch: the evaluation at a trial's end is too late"
        : undefined);
    if (problem !== undefined) add([...path, "metric"], metric, problem);
  }
  if (!Array.isArray(constraints)) return;
  for (const [i, constraint] of constraints.entries()) {
    if (!isObject(constraint)) continue;
    const { metric, min, max } = constraint;
    const problem = typeof metric === "string" ? metricProblem(job, metric) : undefined;
    if (problem !== undefined) add(["constraints", i, "metric"], metric, problem);
    if (min === undefined && max === undefined) add(["constraints", i], undefined, "must have min, max or both");
  }
}

const trainMetrics = ["loss", "accuracy", "gradient-norm", "learning-rate"];
const evaluationMetrics: readonly string[] = [...classificationMetricNames, ...regressionMetricNames];
/** Metrics of validation that a training logs after each epoch. The evaluation of a trial adds the others. */
const epochMetrics = ["loss", "accuracy"];
const validationMetrics = [...new Set([...epochMetrics, ...evaluationMetrics])];

function isLoggedByEpoch(job: Values, metric: string): boolean {
  const [group, ...rest] = metric.split("/");
  return group === "validation" && (hasOwnMetrics(job) || epochMetrics.includes(rest.join("/")));
}

function hasOwnMetrics({ model }: Values): boolean {
  const type = isObject(model) ? model["type"] : undefined;
  return type !== "mlp" && type !== "cnn";
}

/** Returns the rule that a metric's name breaks. Modules may have metrics of their own. */
function metricProblem(job: Values, metric: string): string | undefined {
  const [group = "", ...rest] = metric.split("/");
  const name = rest.join("/");
  const isModule = hasOwnMetrics(job);
  const groups: Readonly<Record<string, readonly string[] | undefined>> = {
    train: isModule ? undefined : trainMetrics,
    validation: isModule ? undefined : validationMetrics,
    test: isModule ? undefined : evaluationMetrics,
  };
  if (!Object.hasOwn(groups, group) || name === "")
    return "must begin with train/, validation/ or test/, e.g. validation/accuracy";
  const names = groups[group];
  if (names === undefined || names.includes(name)) return undefined;
  return `must be a metric that the model logs: ${names.map((one) => `${group}/${one}`).join(", ")}`;
}
