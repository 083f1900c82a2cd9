import { defineConfig } from "./infra/config";

/**
 * Everything that an operator may want to set about a deployment; what is not here has a default (`infra/config/schema.ts` lists them all). A value that
 * cannot be is refused by `npx cdk synth`. One deployment may differ by the command line: `npx cdk deploy -c prefix=team-a -c compute.gpu.maxVcpus=96`.
 *
 * @example
 * export default defineConfig({
 *   region: "eu-central-1",
 *   teams: [{ name: "vision", weight: 2, principals: ["arn:aws:iam::111122223333:role/vision-*"], monthlyBudgetUsd: 2_000 }],
 *   alarms: { email: "ml-platform@example.com" },
 * });
 */
export default defineConfig({});
