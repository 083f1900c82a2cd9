/** The configuration: each process reads it from its environment and checks it at the start. */
export { readCorsOrigins } from "./cors";
export { ConfigurationError } from "./errors";
export { type HookTargets, hookEnvironment, publicTargets, readHookTargets } from "./hooks";
export { defaultEvaluationOperations, environmentOf, type PlatformConfig, readConfig, worldOf } from "./platform";
export { type RunSessionConfig, readRunSession } from "./run-session";
export { readPersonalRoles, readTeamDirectory } from "./teams";
export { readTrainerConfig, type TrainerConfig, type TrainerHost, trainerEnvironmentOf } from "./trainer";
