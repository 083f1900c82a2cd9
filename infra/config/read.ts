import type { Node } from "constructs";
import type * as z from "zod";
import { defaultTeam } from "../../core/access/principals";
import { withContext } from "./context";
import { ConfigError, type ConfigProblem } from "./error";
import { problemsBetween } from "./rules";
import { type DeploymentConfig, type RingmasterConfig, schema, type TeamConfig } from "./schema";

const everybodyElse: TeamConfig = { name: defaultTeam, weight: 1, priority: 0, principals: [], groups: [] };

/** Reads the configuration with context and defaults. @throws ConfigError that lists all problems */
export function readConfig(config: RingmasterConfig, node: Node): DeploymentConfig {
  const context = (node.getAllContext() ?? {}) as Readonly<Record<string, unknown>>;
  const { settings, overridden } = withContext(config, context, schema);
  const parsed = schema.safeParse(settings);
  const problems = parsed.success
    ? problemsBetween(withTeams(parsed.data))
    : [
        ...parsed.error.issues.flatMap((issue) => describe(issue, settings)),
        ...problemsOfValidSections(parsed.error, settings),
      ];
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems.map((each) => sourced(each, overridden)));
  return withTeams(parsed.data);
}

function withTeams({ api, teams, ...rest }: z.output<typeof schema>): DeploymentConfig {
  return {
    ...rest,
    teams: teams.some(({ name }) => name === defaultTeam) ? teams : [...teams, everybodyElse],
    api: { ...api, waf: api.waf ?? api.auth.mode !== "iam" },
  };
}

/** Conflicts between sections that are valid, so that the operator sees all problems at once. */
function problemsOfValidSections(error: z.ZodError, settings: unknown): readonly ConfigProblem[] {
  const broken = new Set<PropertyKey | undefined>(error.issues.map(({ path }) => path[0]));
  if (typeof settings !== "object" || broken.has(undefined)) return [];
  const rest = Object.fromEntries(Object.entries(settings ?? {}).filter(([key]) => !broken.has(key)));
  const parsed = schema.safeParse(rest);
  if (!parsed.success) return [];
  return problemsBetween(withTeams(parsed.data)).filter(({ path }) => !broken.has(path.split(/[.[]/)[0]));
}

function sourced({ path, text }: ConfigProblem, overridden: ReadonlySet<string>): ConfigProblem {
  return overridden.has(path) ? { path, text: `${text} (From the context: -c ${path}=….)` } : { path, text };
}

function describe(issue: z.core.$ZodIssue, settings: unknown): readonly ConfigProblem[] {
  const path = issue.path.reduce<string>(
    (whole, part) =>
      typeof part === "number" ? `${whole}[${part}]` : whole === "" ? String(part) : `${whole}.${String(part)}`,
    "",
  );
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => {
      const name = path === "" ? key : `${path}.${key}`;
      return { path: name, text: `${name} is not a setting; infra/config/schema.ts lists the settings.` };
    });
  }
  const value = issue.path.reduce<unknown>(
    (at, part) => (at as Record<PropertyKey, unknown> | undefined)?.[part],
    settings,
  );
  // The invalid key of a record is reported at its value.
  const rule = issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  const shown =
    issue.code === "invalid_key"
      ? `has the key ${JSON.stringify(issue.path.at(-1))}, which`
      : value === undefined
        ? "is missing:"
        : `is ${show(value)}, but`;
  return [
    {
      path,
      text: `${path === "" ? "the configuration" : path} ${shown} ${value === undefined && issue.code !== "invalid_key" ? `it ${rule}` : rule}.`,
    },
  ];
}

function show(value: unknown): string {
  if (typeof value === "function" || typeof value === "symbol") return `a ${typeof value}`;
  if (typeof value === "number") return String(value); // JSON supports neither NaN nor Infinity.
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}
