/** The configuration: each process reads it from its environment and checks it at the start. */

export { defaultEvaluationOperations, environmentOf, type PlatformConfig, readConfig, worldOf } from "./platform";
export {
  ConfigurationError,
  type HookTargets,
  hookEnvironment,
  publicTargets,
  readCorsOrigins,
  readHookTargets,
} from "./settings";
export { readPersonalRoles, readTeamDirectory } from "./teams";
export { readTrainerConfig, type TrainerConfig, type TrainerHost, trainerEnvironmentOf } from "./trainer";
