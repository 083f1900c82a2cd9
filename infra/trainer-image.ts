import { IgnoreMode } from "aws-cdk-lib";
import { DockerImageAsset, Platform } from "aws-cdk-lib/aws-ecr-assets";
import type { IGrantable } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";
import type { DeploymentConfig } from "./config";

/** All that the image is made of: a change elsewhere in the repository makes no new image. */
const sources = [
  "core",
  "adapters",
  "trainer-container",
  "scripts",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
];

/** URI of the trainer's image: the registry's that the settings name, else one that `cdk deploy` builds. Synthesis needs no Docker. */
export function trainerImage(
  scope: Construct,
  puller: IGrantable,
  config: DeploymentConfig,
  repository: string,
): string {
  if (config.trainerImage !== undefined) return config.trainerImage;
  const asset = new DockerImageAsset(scope, "TrainerImage", {
    directory: repository,
    file: "trainer-container/Dockerfile",
    platform: Platform.LINUX_AMD64,
    ignoreMode: IgnoreMode.DOCKER,
    exclude: ["*", ...sources.map((source) => `!${source}`), "**/node_modules", "**/*.test.ts"],
  });
  asset.repository.grantPull(puller);
  return asset.imageUri;
}
