import * as z from "zod";
import type { TeamMembers } from "../../core/access/membership";
import { principalPatternProblem, teamNamePattern, teamNameRule } from "../../core/access/principals";
import { ConfigurationError, type Environment } from "./settings";

const principal = z.string().superRefine((pattern, context) => {
  const problem = principalPatternProblem(pattern);
  if (problem) context.addIssue({ code: "custom", message: problem });
});

const directory = z.array(
  z.object({
    name: z.string().regex(teamNamePattern, teamNameRule),
    principals: z.array(principal).default([]),
    groups: z.array(z.string().min(1)).default([]),
  }),
);

/**
 * Reads the teams' members from `RINGMASTER_TEAMS`: JSON, `[{"name": "vision", "principals":
 * ["arn:aws:iam::1:role/vision-*"], "groups": ["vision"]}]`. Only functions that people call have it.
 * @throws ConfigurationError
 */
export function readTeamDirectory(environment: Environment): readonly TeamMembers[] {
  return readJson(environment, "RINGMASTER_TEAMS", directory) ?? [];
}

/**
 * Reads patterns of IAM roles whose session name is a person's name from `RINGMASTER_PERSONAL_ROLES`: JSON,
 * `["arn:aws:iam::1:role/AWSReservedSSO_Scientist_*"]`.
 * @throws ConfigurationError
 */
export function readPersonalRoles(environment: Environment): readonly string[] {
  return readJson(environment, "RINGMASTER_PERSONAL_ROLES", z.array(principal)) ?? [];
}

function readJson<T>(environment: Environment, name: string, schema: z.ZodType<T>): T | undefined {
  const text = environment[name];
  if (text === undefined || text === "") return undefined;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new ConfigurationError([`${name}: must be JSON (${(cause as Error).message})`]);
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new ConfigurationError(parsed.error.issues.map((issue) => `${name}.${issue.path.join(".")}: ${issue.message}`));
}
