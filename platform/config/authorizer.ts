import * as z from "zod";
import { type ConfigOf, type Environment, readVariables, variable, writeVariables } from "./variables";

const variables = {
  issuer: variable("RINGMASTER_OIDC_ISSUER", z.url({ protocol: /^https$/ })),
  audience: variable("RINGMASTER_OIDC_AUDIENCE"),
  groupsClaim: variable("RINGMASTER_OIDC_GROUPS_CLAIM", z.string().min(1).default("groups")),
};

/** The accepted tokens' issuer and audience, and their claim for the caller's groups. */
export interface AuthorizerConfig extends ConfigOf<typeof variables> {}

/** @throws ConfigurationError with every problem */
export const readAuthorizerConfig = (environment: Environment): AuthorizerConfig =>
  readVariables(variables, environment);

/** The inverse of `readAuthorizerConfig`. */
export const authorizerEnvironment = (config: AuthorizerConfig): Readonly<Record<string, string>> =>
  writeVariables(variables, config);
