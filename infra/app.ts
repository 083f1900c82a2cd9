import { App } from "aws-cdk-lib";
import config from "../ringmaster.config";
import { definePlatform } from "./platform";

/** Called by `scripts/cdk-app.js`, which `cdk.json` names. */
export function synthesize(repository: string, bundles: string): void {
  const app = new App();
  definePlatform(app, { repository, bundles }, config);
  app.synth();
}
