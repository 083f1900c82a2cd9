import type { ColumnSchema } from "../../core/datasets/shapes";
import { cutOf } from "../../core/evaluation/decision";
import type { ModelArtifact } from "../../core/evaluation/model-artifact";
import type { ExportedFile, ExportSource } from "../../core/export";
import { compilePlan } from "../../core/feature-plans/compile";
import type { Operation } from "../../core/feature-plans/operation";
import type { FittedPlan } from "../../core/feature-plans/shapes";
import type { FeatureTransform, LabelEncoding } from "../../core/features/shapes";

const transformFormat = "ringmaster/transform@1";

/** Content of `transform.json`: how a raw row becomes the network's input, and how its output is read. */
export interface TransformDocument {
  readonly format: typeof transformFormat;
  readonly columns: readonly ColumnSchema[];
  readonly transform: FeatureTransform;
  /** The expressions of a plan that makes the features. */
  readonly expressions?: {
    /** Values that the features read as variables. */
    readonly intermediates: readonly { readonly name: string; readonly operation: Operation }[];
    /** For each output of the transform, its number or the position of its one-hot. */
    readonly features: readonly Operation[];
  };
  readonly label: LabelEncoding;
  readonly activation: "softmax" | "sigmoid" | "none";
  /** Probability of the second of two classes above which it is predicted. Absent: 0.5. */
  readonly cut?: number;
}

export function transformDocument({ inputSchema, transform, label, decision }: ModelArtifact): TransformDocument {
  const activation = label.kind === "value" ? "none" : label.classes.length === 2 ? "sigmoid" : "softmax";
  const cut = decision && label.kind === "class" ? { cut: cutOf(label.classes, decision) } : {};
  const expressions = transform.plan ? { expressions: expressionsOf(transform.plan) } : {};
  return { format: transformFormat, columns: inputSchema, transform, ...expressions, label, activation, ...cut };
}

function expressionsOf(plan: FittedPlan): TransformDocument["expressions"] {
  const { intermediates, outputs } = compilePlan(plan);
  return {
    intermediates: intermediates.map(({ name, value }) => ({ name, operation: value.operation })),
    features: outputs.map(({ value }) => value.operation),
  };
}

/** Builds `transform.json` and `examples.json`: raw rows with the platform's predictions. */
export function documents({ artifact, check }: Pick<ExportSource, "artifact" | "check">): readonly ExportedFile[] {
  const contentType = "application/json";
  const { label } = artifact;
  const width = check.predicted.length / check.rows.length;
  const examples = check.rows.slice(0, 8).map((row, i) => {
    const answer = [...check.predicted.subarray(i * width, (i + 1) * width)];
    return label.kind === "value" ? { row, value: answer[0] } : { row, probabilities: probabilitiesOf(answer) };
  });
  const json = (value: unknown): string => `${JSON.stringify(value, null, 1)}\n`;
  return [
    { path: "transform.json", contentType, body: json(transformDocument(artifact)) },
    {
      path: "examples.json",
      contentType,
      body: json({ ...(label.kind === "class" ? { classes: label.classes } : {}), examples }),
    },
  ];
}

/** Returns a probability for each class. With two classes the prediction has only that of the second. */
export function probabilitiesOf(answer: readonly number[]): readonly number[] {
  return answer.length === 1 ? [1 - answer[0]!, answer[0]!] : answer;
}
