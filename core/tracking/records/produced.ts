import type { ValidationOutput } from "../../datasets/validation-step";
import type { EvaluationOutput } from "../../evaluation/evaluate-model";
import type { Phase } from "../../runs/run-states";
import type { StepRecord } from "../../runs/shapes";
import type { TrainingOutput } from "../../runs/training-task";
import type { ContentReference } from "../../shapes";
import type { Artifact } from "../artifacts";

/** Directory of the files that training itself writes. */
const producedDirectory = "training";

/** Directories of a training run that only the platform writes: the output of training, and exports of its model. */
export const producedDirectories: readonly string[] = [producedDirectory, "exports"];

/** Returns the files of a finished step of a training run. Their names are the same in every run. */
export function producedArtifacts({ step, output, finishedAt }: StepRecord): readonly Artifact[] {
  return contentsOf(step, output).flatMap(([path, content, contentType]) => {
    // Outputs of earlier versions of the step may lack a file.
    if (content === undefined) return [];
    const { sha256, bytes } = content;
    return [{ path: `${producedDirectory}/${path}`, sha256, bytes, contentType, updatedAt: finishedAt }];
  });
}

type Named = readonly [path: string, content: ContentReference | undefined, contentType: string];

function contentsOf(step: Phase, output: unknown): readonly Named[] {
  if (step === "ValidateDataset") {
    const { profile, contract } = output as Partial<ValidationOutput>;
    return [
      ["data/profile.json", profile, "application/json"],
      ["data/contract.json", contract?.report, "application/json"],
    ];
  }
  if (step === "LaunchTraining") {
    const { weights, topology } = output as Partial<TrainingOutput>;
    return [
      ["model/weights.safetensors", weights, "application/octet-stream"],
      ["model/topology.json", topology, "application/json"],
    ];
  }
  if (step === "Evaluate") {
    return [["evaluation/report.json", (output as Partial<EvaluationOutput>).report, "application/json"]];
  }
  return [];
}
