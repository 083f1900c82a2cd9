import { App } from "aws-cdk-lib";
import config from "../ringmaster.config";
import { definePlatform } from "./platform";

/** Synthesizes the application. `scripts/cdk-app.js`, which `cdk.json` names, calls it. */
export function synthesize(repository: string, bundles: string): void {
  const app = new App();
  definePlatform(app, { repository, bundles }, config);
  app.synth();
}
