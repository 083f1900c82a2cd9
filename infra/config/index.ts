/** The operator's settings: `ringmaster.config.ts`, its rules and its defaults. */
export { ConfigError, type ConfigProblem } from "./error";
export { readConfig } from "./read";
export { type DeploymentConfig, defineConfig, type RingmasterConfig, type TeamConfig } from "./schema";
