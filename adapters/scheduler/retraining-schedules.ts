import {
  CreateScheduleCommand,
  type CreateScheduleCommandInput,
  DeleteScheduleCommand,
  paginateListSchedules,
  SchedulerClient,
  UpdateScheduleCommand,
} from "@aws-sdk/client-scheduler";
import type { RetrainingSchedules, ScheduleInput } from "../../core/retraining/ports";
import type { RetrainingRule } from "../../core/retraining/rule";
import type { PlatformConfig } from "../../platform/config";
import { listSchedules, writeSchedules } from "../../platform/permissions/grants";
import { sharedPort } from "../port";

/** The retry policy. A firing that could not be delivered within a day is useless. */
const retryPolicy = { MaximumEventAgeInSeconds: 86_400, MaximumRetryAttempts: 185 };

/**
 * Manages the rules' schedules. Each is named `<team>.<rule>` in a group of the platform. Names have no dots, so the
 * team and the rule can be read from it.
 */
export function createRetrainingSchedules(
  client: SchedulerClient,
  config: PlatformConfig["retraining"],
): RetrainingSchedules {
  const { scheduleGroup: GroupName } = config;
  return {
    async put(rule) {
      const input = scheduleOf(rule, config);
      try {
        await client.send(new UpdateScheduleCommand(input));
        return;
      } catch (error) {
        if (!named(error, "ResourceNotFoundException")) throw error;
      }
      try {
        await client.send(new CreateScheduleCommand(input));
      } catch (error) {
        // Another process created it in between, possibly with other content.
        if (!named(error, "ConflictException")) throw error;
        await client.send(new UpdateScheduleCommand(input));
      }
    },
    async delete(team, rule) {
      try {
        await client.send(new DeleteScheduleCommand({ GroupName, Name: `${team}.${rule}` }));
      } catch (error) {
        if (!named(error, "ResourceNotFoundException")) throw error;
      }
    },
    async list() {
      const schedules: { team: string; rule: string }[] = [];
      for await (const page of paginateListSchedules({ client }, { GroupName })) {
        for (const { Name = "" } of page.Schedules ?? []) {
          const [team, rule, ...more] = Name.split(".");
          if (team && rule && more.length === 0) schedules.push({ team, rule });
        }
      }
      return schedules;
    },
  };
}

function scheduleOf(rule: RetrainingRule, config: PlatformConfig["retraining"]): CreateScheduleCommandInput {
  const { trigger, team, name } = rule;
  if (trigger.type !== "schedule") throw new Error(`rule ${name} has no schedule: its trigger is ${trigger.type}`);
  const input: ScheduleInput = {
    type: "retraining-schedule",
    team,
    rule: name,
    scheduledTime: "<aws.scheduler.scheduled-time>",
  };
  return {
    GroupName: config.scheduleGroup,
    Name: `${team}.${name}`,
    Description: `Ringmaster: retrains by rule ${name} of team ${team}`,
    ScheduleExpression: trigger.expression,
    ScheduleExpressionTimezone: trigger.timeZone,
    FlexibleTimeWindow: { Mode: "OFF" },
    State: rule.enabled ? "ENABLED" : "DISABLED",
    Target: {
      Arn: config.functionArn,
      RoleArn: config.scheduleRoleArn,
      Input: JSON.stringify(input),
      RetryPolicy: retryPolicy,
      ...(config.deadLetterQueueArn ? { DeadLetterConfig: { Arn: config.deadLetterQueueArn } } : {}),
    },
  };
}

function named(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}

export const retrainingSchedules = sharedPort({
  grants: { write: [...writeSchedules], list: [listSchedules] },
  make: (_uses, { config }) => createRetrainingSchedules(new SchedulerClient({}), config.retraining),
});
