import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { RingmasterConfig } from "../../infra/config";
import { ApiStack } from "../../infra/stacks/api-stack";
import { authorizer } from "../../platform/functions";
import { synthesizeStack } from "./synthesized";

export function apiStack(config: RingmasterConfig) {
  const bundles = fs.mkdtempSync(path.join(os.tmpdir(), "infra-api-"));
  fs.mkdirSync(path.join(bundles, "lambdas"));
  fs.writeFileSync(path.join(bundles, "lambdas", `${authorizer.name}.js`), "exports.handler = async () => undefined;");
  try {
    return synthesizeStack(config, (app, deployment) => new ApiStack(app, "api", { config: deployment, bundles }));
  } finally {
    fs.rmSync(bundles, { recursive: true });
  }
}
