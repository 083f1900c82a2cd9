import { ConfigurationError } from "./errors";

/**
 * Origins of web pages that may call, from `RINGMASTER_CORS_ORIGINS`: `https://console.example.com,https://notebook.example.com`.
 *
 * @throws ConfigurationError
 */
export function readCorsOrigins(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const origins = (environment["RINGMASTER_CORS_ORIGINS"] ?? "").split(",").filter((origin) => origin !== "");
  const wrong = origins.filter((origin) => !URL.canParse(origin) || new URL(origin).origin !== origin);
  if (wrong.length === 0) return origins;
  throw new ConfigurationError(
    wrong.map((origin) => `RINGMASTER_CORS_ORIGINS: ${origin} must be an origin: scheme, host and port`),
  );
}
