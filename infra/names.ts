import { ArnFormat, Aws, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { gpuClassesIn } from "../core/metering/prices";
import { environmentOf } from "../platform/config";
import { type FunctionName, functionNameIn } from "../platform/functions";
import { runRoleNameIn } from "../platform/permissions";
import type { TeamShares } from "../platform/shares";
import { tableNameIn } from "../platform/tables";
import { jobQueuesOf, resourceNames } from "../platform/trainer-job";
import { triggerNames } from "../platform/triggers";
import type { DeploymentConfig, TeamConfig } from "./config";

export const bucketNameIn = (prefix: string) => `${prefix}-data-${Aws.ACCOUNT_ID}-${Aws.REGION}`;

/** ARNs by name: references between stacks would be circular. */
export class PlatformArns {
  private readonly stack: Stack;
  private readonly prefix: string;

  constructor(scope: Construct, prefix: string) {
    this.stack = Stack.of(scope);
    this.prefix = prefix;
  }

  function(name: FunctionName): string {
    return this.named("lambda", "function", functionNameIn(this.prefix, name));
  }
  get stateMachine(): string {
    return this.named("states", "stateMachine", resourceNames(this.prefix).stateMachine);
  }
  get runRole(): string {
    const resourceName = runRoleNameIn({ prefix: this.prefix, region: this.stack.region });
    return this.stack.formatArn({ service: "iam", region: "", resource: "role", resourceName });
  }
  queue(name: string): string {
    return this.stack.formatArn({ service: "sqs", resource: name });
  }
  get triggerRole(): string {
    const resourceName = triggerNames({ prefix: this.prefix, region: this.stack.region }).scheduleRole;
    return this.stack.formatArn({ service: "iam", region: "", resource: "role", resourceName });
  }

  private named(service: string, resource: string, resourceName: string): string {
    return this.stack.formatArn({ service, resource, resourceName, arnFormat: ArnFormat.COLON_RESOURCE_NAME });
  }
}

/** Returns the environment of functions and trainers. The embedded cloud sets the same variables. */
export function platformEnvironment(
  scope: Construct,
  { prefix, teams, encryption, compute }: Pick<DeploymentConfig, "prefix" | "teams" | "encryption" | "compute">,
): Readonly<Record<string, string>> {
  const names = resourceNames(prefix);
  const arns = new PlatformArns(scope, prefix);
  const triggers = triggerNames({ prefix, region: Stack.of(scope).region });
  return environmentOf({
    prefix,
    bucket: bucketNameIn(prefix),
    bucketKeyArn: encryption.bucketKeyArn,
    tables: {
      catalog: tableNameIn(prefix, "Catalog"),
      metrics: tableNameIn(prefix, "Metrics"),
      gangs: tableNameIn(prefix, "Gangs"),
      features: tableNameIn(prefix, "Features"),
    },
    stateMachineArn: arns.stateMachine,
    runRoleArn: arns.runRole,
    jobQueues: jobQueuesOf(prefix),
    gpuClasses: gpuClassesIn(compute.gpu.instanceClasses),
    teamShares: teamSharesOf(teams),
    jobLogGroup: names.jobLogGroup,
    evaluationOperations: compute.evaluationOperations,
    jobDefinitions: { single: names.jobDefinition, gang: names.jobDefinitionGang },
    triggers: {
      functionArn: arns.function("fire-triggers"),
      scheduleGroup: triggers.scheduleGroup,
      scheduleRoleArn: arns.triggerRole,
      deadLetterQueueArn: arns.queue(triggers.deadLetterQueue),
    },
  });
}

function teamSharesOf(teams: readonly TeamConfig[]): TeamShares {
  return Object.fromEntries(
    teams
      .filter(({ share, priority, limits }) => share !== undefined || priority > 0 || limits !== undefined)
      .map(({ name, share, priority, limits }) => [
        name,
        { ...(share === undefined ? {} : { share }), priority, ...(limits === undefined ? {} : { limits }) },
      ]),
  );
}

/** For functions that users call: members of teams, personal roles (`platform/config/teams.ts`), and origins. */
export function callersEnvironment({
  teams,
  api,
}: Pick<DeploymentConfig, "teams" | "api">): Readonly<Record<string, string>> {
  return {
    RINGMASTER_TEAMS: JSON.stringify(teams.map(({ name, principals, groups }) => ({ name, principals, groups }))),
    ...(api.auth.mode === "iam" && api.auth.personalRoles.length > 0
      ? { RINGMASTER_PERSONAL_ROLES: JSON.stringify(api.auth.personalRoles) }
      : {}),
    ...(api.corsOrigins.length === 0 ? {} : { RINGMASTER_CORS_ORIGINS: api.corsOrigins.join(",") }),
  };
}
