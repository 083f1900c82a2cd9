import type { EvaluationOutput, TrainingOutput } from "../../pipelines/outputs";
import type { StepRecord } from "../../training/run";
import type { Artifact } from "../artifacts";

/** Where all that training itself makes is named; clients put nothing there. */
export const producedDirectory = "training";

/** What a finished step of a training run leaves, by names that are the same in every run. */
export function producedArtifacts({ step, output, finishedAt }: StepRecord): readonly Artifact[] {
  const artifact = (path: string, content: { sha256: string; bytes: number }, contentType: string): Artifact => ({
    path: `${producedDirectory}/${path}`,
    sha256: content.sha256,
    bytes: content.bytes,
    contentType,
    updatedAt: finishedAt,
  });
  if (step === "LaunchTraining") {
    const { weights, topology } = output as TrainingOutput;
    return [
      artifact("model/weights.safetensors", weights, "application/octet-stream"),
      artifact("model/topology.json", topology, "application/json"),
    ];
  }
  if (step === "Evaluate") {
    return [artifact("evaluation/report.json", (output as EvaluationOutput).report, "application/json")];
  }
  if (step === "ValidateDataset") {
    const { profile } = output as { readonly profile: Artifact };
    return [artifact("data/profile.json", profile, "application/json")];
  }
  return [];
}

export function isProduced(path: string): boolean {
  return path === producedDirectory || path.startsWith(`${producedDirectory}/`);
}
