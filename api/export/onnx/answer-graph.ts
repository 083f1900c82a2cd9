import { cutOf } from "../../../core/evaluation/decision";
import type { ModelArtifact } from "../../../core/evaluation/model-artifact";
import type { Task } from "../../../core/runs/model-definition";
import type { GraphBuilder } from "./builder";
import type { TensorValue } from "./file";

interface AnswerOutputs {
  /** The class that the model decides for, by default the one with the highest probability, `[rows]`: text, int64 or bool, like the label. */
  readonly label?: string;
  /** Probabilities of the classes, `[rows, classes]`, in the order of the label's encoding. */
  readonly probabilities?: string;
  readonly value?: string;
}

/** Adds the outputs to logits `[rows, outputs]`: a label and probabilities, or a value. */
export function addAnswer(
  builder: GraphBuilder,
  logits: string,
  { label, decision }: Pick<ModelArtifact, "label" | "decision">,
): AnswerOutputs {
  if (label.kind === "value") {
    const flat = builder.add("Reshape", [logits, builder.integers([-1])]);
    return { value: builder.output("value", flat, "float", ["rows"]) };
  }
  const { classes } = label;
  const probabilities =
    classes.length === 2 ? addBinary(builder, logits) : builder.add("Softmax", [logits], { axis: { int: 1 } });
  // p > c is p - c > (1 - p) - (1 - c).
  const cut = decision && cutOf(classes, decision);
  const scores =
    cut === undefined ? probabilities : builder.add("Sub", [probabilities, builder.floats([1 - cut, cut], [2])]);
  const best = builder.add("ArgMax", [scores], { axis: { int: 1 }, keepdims: { int: 0 } });
  const values = classesTensor(classes);
  const named = builder.add("Gather", [builder.constant(values), best]);
  return {
    label: builder.output("label", named, values.type, ["rows"]),
    probabilities: builder.output("probabilities", probabilities, "float", ["rows", classes.length]),
  };
}

/** Adds the outputs of a network alone: its logits or values, and probabilities like the platform's predictor. */
export function addNetworkAnswer(
  builder: GraphBuilder,
  logits: string,
  task: Task,
  outputs: number,
): { readonly logits?: string; readonly probabilities?: string; readonly value?: string } {
  const dims = ["rows", outputs];
  if (task === "regression") return { value: builder.output("value", logits, "float", dims) };
  const probabilities =
    task === "binary" ? builder.add("Sigmoid", [logits]) : builder.add("Softmax", [logits], { axis: { int: 1 } });
  return {
    logits: builder.output("logits", logits, "float", dims),
    probabilities: builder.output("probabilities", probabilities, "float", dims),
  };
}

/** Computes `[1 - p, p]` from one logit for each row. */
function addBinary(builder: GraphBuilder, logits: string): string {
  const second = builder.add("Sigmoid", [logits]);
  const first = builder.add("Sub", [builder.floats([1], []), second]);
  return builder.add("Concat", [first, second], { axis: { int: 1 } });
}

function classesTensor(
  classes: readonly (string | number | boolean)[],
): TensorValue & { readonly type: "string" | "int64" | "bool" } {
  const dims = [classes.length];
  const [first] = classes;
  if (typeof first === "string") return { type: "string", data: classes.map(String), dims };
  if (typeof first === "boolean") return { type: "bool", data: Uint8Array.from(classes, Number), dims };
  return { type: "int64", data: BigInt64Array.from(classes, (each) => BigInt(each)), dims };
}
