import { Aws, IgnoreMode } from "aws-cdk-lib";
import { Repository } from "aws-cdk-lib/aws-ecr";
import { DockerImageAsset, Platform } from "aws-cdk-lib/aws-ecr-assets";
import type { IGrantable } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";
import type { DeploymentConfig } from "./config";

/** The sources of the image. A change elsewhere in the repository creates no new image. */
const sources = [
  "core",
  "platform",
  "adapters",
  "trainer-container",
  "scripts",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
];

/** The configured image, or one that `cdk deploy` builds. Synthesis needs no Docker. */
export function trainerImage(
  scope: Construct,
  puller: IGrantable,
  config: DeploymentConfig,
  repository: string,
): string {
  if (config.trainerImage !== undefined) {
    grantPullOf(config.trainerImage, scope, puller);
    return config.trainerImage;
  }
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

/** An ECR repository of the same account needs the puller's rights; another registry must be public or trust it. */
function grantPullOf(image: string, scope: Construct, puller: IGrantable): void {
  const [, account, region, name] = /^(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com\/([^:@]+)/.exec(image) ?? [];
  if (name === undefined) return;
  const repositoryArn = `arn:${Aws.PARTITION}:ecr:${region}:${account}:repository/${name}`;
  Repository.fromRepositoryAttributes(scope, "TrainerRepository", { repositoryArn, repositoryName: name }).grantPull(
    puller,
  );
}
