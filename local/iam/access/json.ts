import { account, region } from "../../account";
import type { Access } from "../policy";

type Body = Readonly<Record<string, unknown>>;

const arn = (service: string, rest: string): string => `arn:aws:${service}:${region}:${account}:${rest}`;
const text = (body: Body, name: string): string => String(body[name] ?? "");
const asArn = (service: string, kind: string, value: string): string =>
  value.startsWith("arn:") ? value : arn(service, `${kind}/${value}`);

/** Returns the accesses of a request to Step Functions. @param machineOf returns the state machine of a task token */
export function statesAccesses(
  operation: string,
  body: Body,
  machineOf: (token: string) => string | undefined,
): readonly Access[] {
  const action = `states:${operation}`;
  if (operation.startsWith("SendTask")) {
    const machine = machineOf(text(body, "taskToken"));
    return [{ action, resource: machine === undefined ? "*" : arn("states", `stateMachine:${machine}`) }];
  }
  return [{ action, resource: text(body, "stateMachineArn") || text(body, "executionArn") || "*" }];
}

/** Returns the accesses of a request to Batch. The operation's name is the last part of the path, in lower case. */
export function batchAccesses(operation: string, body: Body): readonly Access[] {
  switch (operation) {
    case "submitjob":
      return [
        { action: "batch:SubmitJob", resource: asArn("batch", "job-queue", text(body, "jobQueue")) },
        { action: "batch:SubmitJob", resource: asArn("batch", "job-definition", text(body, "jobDefinition")) },
      ];
    case "terminatejob":
      return [{ action: "batch:TerminateJob", resource: arn("batch", `job/${text(body, "jobId")}`) }];
    case "describejobdefinitions":
      return [{ action: "batch:DescribeJobDefinitions", resource: "*" }];
    case "describejobs":
      return [{ action: "batch:DescribeJobs", resource: "*" }];
    case "listjobs":
      return [{ action: "batch:ListJobs", resource: "*" }];
    default:
      return [{ action: `batch:${operation}`, resource: "*" }];
  }
}

/**
 * Returns the access of a request to Lambda. `/2015-03-31/functions/<name>/invocations` is an invocation, and
 * everything else is administration.
 */
export function lambdaAccess(path: string): Access {
  const [, name] = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/.exec(path) ?? [];
  if (name === undefined) return { action: "lambda:Administer", resource: "*" };
  const plain = decodeURIComponent(name).split(":").at(-1);
  return { action: "lambda:InvokeFunction", resource: arn("lambda", `function:${plain}`) };
}

export function logsAccess(operation: string, body: Body): Access {
  const group = text(body, "logGroupName") || text(body, "logGroupIdentifier");
  return { action: `logs:${operation}`, resource: group === "" ? "*" : `${arn("logs", `log-group:${group}`)}:*` };
}

export function eventsAccess(operation: string): Access {
  const resource = operation === "PutEvents" ? arn("events", "event-bus/default") : "*";
  return { action: `events:${operation}`, resource };
}

const schedulerOperations: Readonly<Record<string, string>> = {
  "POST schedules": "CreateSchedule",
  "PUT schedules": "UpdateSchedule",
  "GET schedules": "GetSchedule",
  "DELETE schedules": "DeleteSchedule",
  "POST schedule-groups": "CreateScheduleGroup",
};

/**
 * Returns the accesses of a request to the Scheduler. A schedule also needs `PassRole` for the role with which it calls
 * its target.
 */
export function schedulerAccesses(method: string, url: URL, body: Body): readonly Access[] {
  const [root = "", name] = url.pathname.slice(1).replace(/\/$/, "").split("/");
  if (name === undefined)
    return [
      { action: root === "schedules" ? "scheduler:ListSchedules" : "scheduler:ListScheduleGroups", resource: "*" },
    ];
  const action = `scheduler:${schedulerOperations[`${method} ${root}`] ?? "Unknown"}`;
  const group = url.searchParams.get("groupName") ?? (text(body, "GroupName") || "default");
  const resource =
    root === "schedules"
      ? `schedule/${group}/${decodeURIComponent(name)}`
      : `schedule-group/${decodeURIComponent(name)}`;
  const role = (body["Target"] as Body | undefined)?.["RoleArn"];
  return [
    { action, resource: arn("scheduler", resource) },
    ...(typeof role === "string" ? [{ action: "iam:PassRole", resource: role }] : []),
  ];
}
