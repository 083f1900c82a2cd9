/** The configuration: each process reads it from its environment and checks it at the start. */

export { defaultEvaluationOperations, environmentOf, type PlatformConfig, readConfig, worldOf } from "./platform";
export {
  ConfigurationError,
  type HookTargets,
  hookEnvironment,
  publicTargets,
  readCorsOrigins,
  readHookTargets,
  readPersonalRoles,
  readTeamDirectory,
} from "./settings";
export { readTrainerConfig, type TrainerConfig, type TrainerHost, trainerEnvironmentOf } from "./trainer";
