import * as z from "zod";
import { ConfigurationError } from "./errors";

const schema = z.object({
  RINGMASTER_OIDC_ISSUER: z.url({ protocol: /^https$/ }),
  RINGMASTER_OIDC_AUDIENCE: z.string().min(1),
  RINGMASTER_OIDC_GROUPS_CLAIM: z.string().min(1).default("groups"),
});

/** The accepted tokens' issuer and audience, and their claim for the caller's groups. */
export interface AuthorizerConfig {
  readonly issuer: string;
  readonly audience: string;
  readonly groupsClaim: string;
}

/** @throws ConfigurationError with every problem */
export function readAuthorizerConfig(environment: Readonly<Record<string, string | undefined>>): AuthorizerConfig {
  const parsed = schema.safeParse(environment);
  if (!parsed.success) {
    throw new ConfigurationError(parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`));
  }
  const { RINGMASTER_OIDC_ISSUER, RINGMASTER_OIDC_AUDIENCE, RINGMASTER_OIDC_GROUPS_CLAIM } = parsed.data;
  return {
    issuer: RINGMASTER_OIDC_ISSUER,
    audience: RINGMASTER_OIDC_AUDIENCE,
    groupsClaim: RINGMASTER_OIDC_GROUPS_CLAIM,
  };
}

/** The inverse of `readAuthorizerConfig`. */
export function authorizerEnvironment({
  issuer,
  audience,
  groupsClaim,
}: AuthorizerConfig): Readonly<Record<string, string>> {
  return {
    RINGMASTER_OIDC_ISSUER: issuer,
    RINGMASTER_OIDC_AUDIENCE: audience,
    RINGMASTER_OIDC_GROUPS_CLAIM: groupsClaim,
  };
}
