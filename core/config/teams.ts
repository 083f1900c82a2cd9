import { z } from "zod";
import type { TeamMembers } from "../access/membership";
import { principalPatternProblem } from "../access/principals";
import { teamNamePattern, teamNameRule } from "../platform/teams";
import { ConfigurationError } from "./errors";

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
 * Who is in which team, from `RINGMASTER_TEAMS`: JSON, `[{"name": "vision", "principals": ["arn:aws:iam::1:role/vision-*"], "groups": ["vision"]}]`.
 * Only functions that are called by people take it.
 *
 * @throws ConfigurationError
 */
export function readTeamDirectory(environment: Readonly<Record<string, string | undefined>>): readonly TeamMembers[] {
  const text = environment["RINGMASTER_TEAMS"];
  if (text === undefined || text === "") return [];
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new ConfigurationError([`RINGMASTER_TEAMS: must be JSON (${(cause as Error).message})`]);
  }
  const parsed = directory.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new ConfigurationError(
    parsed.error.issues.map((issue) => `RINGMASTER_TEAMS.${issue.path.join(".")}: ${issue.message}`),
  );
}
