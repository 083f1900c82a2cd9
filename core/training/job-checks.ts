import type { DatasetManifest } from "../datasets/shapes";
import type { Problem } from "../errors";
import { type Directions, goalOf } from "../evaluation/metric-goal";
import { classificationMetricNames, isBuiltIn, regressionMetricNames } from "../evaluation/metrics";
import { choiceProblems, chosenFeatures } from "../features/choice";
import { shadowingProblems } from "../features/planned-fit";
import { gpusOfSmallestHost } from "../metering/prices";
import { planOf } from "../runs/feature-settings";
import type { PolicyRules } from "../runs/gate-rules";
import type { Job } from "../runs/job";
import { hostNeedOf } from "../runs/resources";
import type { Warning } from "../shapes";
import { stoppingMetricProblem } from "./early-stopping";

export interface DeploymentSettings {
  /** None: any, on the machine's own GPUs. */
  readonly gpuClasses?: readonly string[];
}

export function deploymentProblems(
  { resources }: Pick<Job, "resources">,
  { gpuClasses = [] }: DeploymentSettings = {},
): readonly Problem[] {
  const wanted = resources.gpu?.class;
  if (wanted === undefined || gpuClasses.length === 0 || gpuClasses.includes(wanted)) return [];
  const rule = `must be a GPU class of this deployment (${gpuClasses.join(", ")}): an operator adds others in compute.gpu.instanceClasses of ringmaster.config.ts`;
  return [{ path: "resources.gpu.class", value: wanted, rule }];
}

/** Checks a job against its dataset. Reports every problem, and creates nothing. */
export function checkJobAgainst(manifest: DatasetManifest, job: Job): readonly Problem[] {
  const problems: Problem[] = [];
  const refuse = (path: string, rule: string, value?: unknown) => problems.push({ path, rule, value });
  const columns = new Map(manifest.schema.map((column) => [column.name, column]));
  const dataset = `${manifest.name}@${manifest.version}`;

  const label = manifest.schema.find((column) => column.role === "label");
  if (!label) refuse("dataset", "must have a column with role label", dataset);
  if (!manifest.schema.some((column) => column.role === "feature"))
    refuse("dataset", "must have a column with role feature", dataset);
  problems.push(...choiceProblems(manifest.schema, job), ...shadowingProblems(manifest.schema, job.features));
  for (const { column: slice, path } of sliceColumns(job)) {
    const type = columns.get(slice)?.type;
    if (type === undefined) refuse(path, `must be a column of ${dataset}: ${[...columns.keys()].join(", ")}`, slice);
    else if (type !== "int" && type !== "string" && type !== "bool")
      refuse(path, `must be an int, string or bool column, but its type in ${dataset} is ${type}`, slice);
  }
  if (job.model.type === "module" && job.model.sha256 === undefined)
    refuse("model.sha256", "is required: the SHA-256 of the module's bundle, which `ringmaster submit` uploads");
  if (job.model.type === "container" && job.model.code !== undefined && job.model.sha256 === undefined)
    refuse("model.sha256", "is required: the SHA-256 of the packed code folder, which `ringmaster submit` uploads");
  if (job.model.type === "cnn") {
    const features = planOf(job.features) === undefined ? chosenFeatures(manifest.schema, job) : [];
    if (features.length !== 1 || features[0]!.type !== "tensor" || (features[0]!.shape?.length ?? 0) < 2) {
      const rule = `must have one tensor of two or three dimensions as its only feature, but ${dataset} does not; use mlp`;
      refuse("model.type", rule, "cnn");
    }
  }
  const isValue = label?.type === "float";
  const names = metricNamesOf(manifest);
  job.evaluation.gates?.slices.forEach(({ metric }, i) => {
    if (names.includes(metric)) return;
    refuse(`evaluation.gates.slices.${i}.metric`, `must name a metric of this task: ${names.join(", ")}`, metric);
  });
  if (isValue && (job.evaluation.gates?.fairness.length ?? 0) > 0) {
    const rule = `must be left out: rates need classes, but the label ${label.name} is a value`;
    refuse("evaluation.gates.fairness", rule);
  }
  if (isValue && job.hyperparameters.classWeights !== undefined) {
    const rule = `must be left out: the label ${label.name} is a value and has no classes`;
    refuse("hyperparameters.classWeights", rule);
  }
  problems.push(...earlyStoppingProblems(manifest, job, !isValue), ...decisionProblems(manifest, job, isValue));
  problems.push(...gateMetricProblems(job, names));
  const trainRows = manifest.split.indexes.train.rows;
  if (trainRows < job.resources.microBatches) {
    const rule = `must be at most the ${trainRows} training rows of ${dataset}`;
    refuse("resources.microBatches", rule, job.resources.microBatches);
  }
  return problems;
}

/** Checks the metrics of thresholds and of the comparison. A module may have others than the evaluation. */
function gateMetricProblems({ evaluation, model }: Job, names: readonly string[]): readonly Problem[] {
  const { thresholds, regressionMetric, directions = {} } = evaluation;
  const named = namedMetrics("evaluation.thresholds", thresholds, "evaluation.regressionMetric", regressionMetric);
  return [
    ...named.flatMap(({ metric, path, value }) => {
      if (names.includes(metric)) return [];
      if (model.type !== "module" || isBuiltIn(metric))
        return [{ path, value, rule: `must name a metric of this task: ${names.join(", ")}` }];
      if (goalOf(metric) !== undefined || Object.hasOwn(directions, metric)) return [];
      const rule = `is required (minimize or maximize): ${metric} is a metric of the module, whose name does not tell`;
      return [{ path: `evaluation.directions.${metric}`, rule }];
    }),
    ...directionProblems(directions, "evaluation"),
  ];
}

/** Returns the places where metrics of the whole split are named: by their limits, and for the comparison. */
function namedMetrics(
  path: string,
  thresholds: Readonly<Record<string, number>>,
  comparedPath: string,
  compared: string | undefined,
) {
  return [
    ...Object.entries(thresholds).map(([metric, value]) => ({ metric, path: `${path}.${metric}`, value })),
    ...(compared === undefined ? [] : [{ metric: compared, path: comparedPath, value: compared }]),
  ];
}

/** Returns the directions that contradict the metrics' names, which decide everywhere else too. */
function directionProblems(directions: Directions, path: string): readonly Problem[] {
  return Object.entries(directions).flatMap(([metric, value]) => {
    const goal = goalOf(metric);
    if (goal === undefined || value.startsWith(goal)) return [];
    const rule = `must be ${goal}imize or left out, as the name tells; give the metric another name otherwise`;
    return [{ path: `${path}.directions.${metric}`, value, rule }];
  });
}

/** A module's own metrics are known to the trainer alone, which checks them before the first step. */
function earlyStoppingProblems(
  { name, version, split }: DatasetManifest,
  { earlyStopping, model }: Job,
  hasClasses: boolean,
): readonly Problem[] {
  if (earlyStopping === undefined) return [];
  const problems: Problem[] = [];
  const problem = stoppingMetricProblem(earlyStopping, hasClasses, model.type === "module" ? undefined : []);
  if (problem) {
    const { field, rule } = problem;
    problems.push({ path: `earlyStopping.${field}`, value: earlyStopping[field], rule });
  }
  if (split.indexes.validation.rows === 0) {
    const rule = `must be left out: ${name}@${version} has no validation rows. Push a version with a validation split`;
    problems.push({ path: "earlyStopping", rule });
  }
  return problems;
}

/** The trainer checks the classes before the first step: only features and profile know them. */
function decisionProblems(
  { name, version, split }: DatasetManifest,
  { evaluation: { positive, threshold } }: Job,
  isValue: boolean,
): readonly Problem[] {
  const set = Object.entries({ positive, threshold }).filter(([, value]) => value !== undefined);
  if (isValue) {
    const rule = "must be left out: the label is a value and has no classes";
    return set.map(([field, value]) => ({ path: `evaluation.${field}`, value, rule }));
  }
  if (threshold === undefined || typeof threshold === "number" || split.indexes.validation.rows > 0) return [];
  const rule = `must be a number or left out: ${name}@${version} has no validation rows that could choose it`;
  return [{ path: "evaluation.threshold", value: threshold, rule }];
}

/** Returns metrics in a policy's gates that the dataset's task lacks, so that no version could pass. */
export function checkPolicyAgainst(
  manifest: Pick<DatasetManifest, "schema">,
  { thresholds, slices, noRegression, directions = {} }: PolicyRules,
  { type }: Pick<Job["model"], "type">,
): readonly Problem[] {
  const names = metricNamesOf(manifest);
  const rule = `must name a metric of this task: ${names.join(", ")}; \`ringmaster models policy set\` changes the policy`;
  const compared = typeof noRegression === "object" ? noRegression.metric : undefined;
  const comparedPath = "policy.rules.noRegression.metric";
  const whole = namedMetrics("policy.rules.thresholds", thresholds, comparedPath, compared).filter(
    ({ metric }) => type !== "module" || isBuiltIn(metric),
  );
  const ofSlices = slices.map(({ metric }, i) => ({ metric, path: `policy.rules.slices.${i}.metric`, value: metric }));
  return [
    ...[...whole, ...ofSlices]
      .filter(({ metric }) => !names.includes(metric))
      .map(({ path, value }) => ({ path, value, rule })),
    ...directionProblems(directions, "policy.rules"),
  ];
}

function metricNamesOf({ schema }: Pick<DatasetManifest, "schema">): readonly string[] {
  const label = schema.find(({ role }) => role === "label");
  return label?.type === "float" ? regressionMetricNames : classificationMetricNames;
}

/** Returns warnings about permitted settings that people should see. */
export function jobWarnings(manifest: DatasetManifest, job: Job): readonly Warning[] {
  return [...batchWarnings(manifest, job), ...idleGpuWarnings(job)];
}

function idleGpuWarnings({ resources }: Job): readonly Warning[] {
  const { gpu, placement } = resources;
  if (gpu?.class === undefined || placement !== "cluster") return [];
  const need = hostNeedOf(resources);
  const gpus = gpusOfSmallestHost(gpu.class, need);
  if (gpus === need.gpus) return [];
  const message =
    `resources.gpu.count is ${need.gpus}, but a node of a cluster gets an instance alone, and one with ${gpu.class} for ` +
    `these workers has ${gpus} GPUs or more: ${gpus - need.gpus} of each node's GPUs are idle, and paid. ` +
    `Set count to ${gpus}, or placement to spread.`;
  return [{ code: "IDLE_GPUS", message }];
}

function batchWarnings(manifest: DatasetManifest, job: Job): readonly Warning[] {
  const { rows } = manifest.split.indexes.train;
  const { batchSize } = job.hyperparameters;
  if (batchSize <= rows || job.model.type === "container") return [];
  const message =
    `hyperparameters.batchSize is ${batchSize}, more than the ${rows} training rows of ` +
    `${manifest.name}@${manifest.version}: each epoch is one step, whose batch repeats rows until it is full. ` +
    `Set a batch size of at most ${rows}.`;
  return [{ code: "BATCH_SIZE", message }];
}

function sliceColumns({
  evaluation: { slices, gates },
}: Job): readonly { readonly column: string; readonly path: string }[] {
  return [
    ...slices.map((column, i) => ({ column, path: `evaluation.slices.${i}` })),
    ...(gates?.slices ?? []).map(({ column }, i) => ({ column, path: `evaluation.gates.slices.${i}.column` })),
    ...(gates?.fairness ?? []).map(({ column }, i) => ({ column, path: `evaluation.gates.fairness.${i}.column` })),
  ];
}
