import {
  CreateScheduleCommand,
  type CreateScheduleCommandInput,
  DeleteScheduleCommand,
  paginateListSchedules,
  SchedulerClient,
  UpdateScheduleCommand,
} from "@aws-sdk/client-scheduler";
import type { ScheduleInput, TriggerSchedules } from "../../core/triggers/ports";
import type { Trigger } from "../../core/triggers/trigger";
import type { PlatformConfig } from "../../platform/config";
import { listSchedules, writeSchedules } from "../../platform/permissions/grants";
import { sharedPort } from "../port";

/** The retry policy. A firing that could not be delivered within a day is useless. */
const retryPolicy = { MaximumEventAgeInSeconds: 86_400, MaximumRetryAttempts: 185 };

/**
 * Manages the triggers' schedules. Each is named `<team>.<trigger>` in a group of the platform. Names have no dots, so the
 * team and the trigger can be read from it.
 */
export function createTriggerSchedules(client: SchedulerClient, config: PlatformConfig["triggers"]): TriggerSchedules {
  const { scheduleGroup: GroupName } = config;
  return {
    async put(trigger) {
      const input = scheduleOf(trigger, config);
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
    async delete(team, trigger) {
      try {
        await client.send(new DeleteScheduleCommand({ GroupName, Name: `${team}.${trigger}` }));
      } catch (error) {
        if (!named(error, "ResourceNotFoundException")) throw error;
      }
    },
    async list() {
      const schedules: { team: string; trigger: string }[] = [];
      for await (const page of paginateListSchedules({ client }, { GroupName })) {
        for (const { Name = "" } of page.Schedules ?? []) {
          const [team, trigger, ...more] = Name.split(".");
          if (team && trigger && more.length === 0) schedules.push({ team, trigger });
        }
      }
      return schedules;
    },
  };
}

function scheduleOf(trigger: Trigger, config: PlatformConfig["triggers"]): CreateScheduleCommandInput {
  const { on, team, name } = trigger;
  if (on.type !== "schedule") throw new Error(`trigger ${name} has no schedule: its on is ${on.type}`);
  const input: ScheduleInput = {
    type: "trigger-schedule",
    team,
    trigger: name,
    scheduledTime: "<aws.scheduler.scheduled-time>",
  };
  return {
    GroupName: config.scheduleGroup,
    Name: `${team}.${name}`,
    Description: `Ringmaster: fires trigger ${name} of team ${team}`,
    ScheduleExpression: on.expression,
    ScheduleExpressionTimezone: on.timeZone,
    FlexibleTimeWindow: { Mode: "OFF" },
    State: trigger.enabled ? "ENABLED" : "DISABLED",
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

export const triggerSchedules = sharedPort({
  grants: { write: [...writeSchedules], list: [listSchedules] },
  make: (_uses, { config }) => createTriggerSchedules(new SchedulerClient({}), config.triggers),
});
