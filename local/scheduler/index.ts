import { systemClock } from "../clock";
import type { ParseSchedule, TargetPorts } from "../events/target";
import { schedulerAccesses } from "../iam/access/json";
import { ServiceStore, type StoredService, type StoredServiceOptions } from "../service";
import { serveJson, takePage, validation } from "../wire";
import { conflict, groupArn, notFound, parseName, type Schedule, scheduleArn } from "./schedule";
import { type Group, keyOf, Schedules } from "./schedules";

interface SchedulerRequest {
  readonly method: string;
  readonly url: URL;
  readonly body: Readonly<Record<string, unknown>>;
}

async function handleScheduler(schedules: Schedules, { method, url, body }: SchedulerRequest): Promise<object> {
  const [root, encoded, ...rest] = url.pathname.slice(1).replace(/\/$/, "").split("/");
  const name = encoded === undefined ? undefined : decodeURIComponent(encoded);
  const query = url.searchParams;
  const operation = rest.length > 0 ? "" : `${method} /${root}${name === undefined ? "" : "/{Name}"}`;
  switch (operation) {
    case "POST /schedules/{Name}":
      return create(schedules, parseName(name!), body);
    case "PUT /schedules/{Name}":
      return update(schedules, parseName(name!), body);
    case "GET /schedules/{Name}":
      return describe(find(schedules, query.get("groupName"), name!));
    case "DELETE /schedules/{Name}":
      await schedules.delete(keyOf(find(schedules, query.get("groupName"), name!)));
      return {};
    case "GET /schedules":
      return list(schedules, query);
    case "POST /schedule-groups/{Name}":
      return createGroup(schedules, parseName(name!), body);
    case "GET /schedule-groups":
      return listGroups(schedules, query);
    default:
      throw validation(`The embedded Scheduler does not implement ${method} ${url.pathname}.`);
  }
}

async function create(schedules: Schedules, Name: string, body: SchedulerRequest["body"]): Promise<object> {
  const definition = schedules.parse(body);
  findGroup(schedules, definition.GroupName);
  const token = body["ClientToken"] as string | undefined;
  const old = schedules.get(keyOf({ ...definition, Name }));
  const ScheduleArn = scheduleArn({ ...definition, Name });
  if (old && (token === undefined || old.token !== token)) throw conflict(`Schedule ${Name} already exists.`);
  const now = schedules.seconds();
  if (!old) await schedules.put({ ...definition, Name, token, CreationDate: now, LastModificationDate: now });
  return { ScheduleArn };
}

/** Replaces the whole definition. A missing field gets its default. */
async function update(schedules: Schedules, Name: string, body: SchedulerRequest["body"]): Promise<object> {
  const definition = schedules.parse(body);
  const { CreationDate, token } = find(schedules, definition.GroupName, Name);
  await schedules.put({ ...definition, Name, token, CreationDate, LastModificationDate: schedules.seconds() });
  return { ScheduleArn: scheduleArn({ ...definition, Name }) };
}

async function createGroup(schedules: Schedules, Name: string, body: SchedulerRequest["body"]): Promise<object> {
  const token = body["ClientToken"] as string | undefined;
  const old = schedules.group(Name);
  if (old && (token === undefined || old.token !== token)) throw conflict(`Schedule group ${Name} already exists.`);
  if (!old) await schedules.putGroup({ Name, token, CreationDate: schedules.seconds() });
  return { ScheduleGroupArn: groupArn(Name) };
}

function find(schedules: Schedules, group: string | null, name: string): Schedule {
  const GroupName = group ?? "default";
  findGroup(schedules, GroupName);
  const schedule = schedules.get(keyOf({ GroupName, Name: name }));
  if (!schedule) throw notFound("Schedule", name);
  return schedule;
}

function findGroup(schedules: Schedules, name: string): Group {
  const group = schedules.group(name);
  if (!group) throw notFound("ScheduleGroup", name);
  return group;
}

function describe({ token: _, dueAt: __, ...schedule }: Schedule): object {
  return { ...schedule, Arn: scheduleArn(schedule) };
}

function describeGroup({ Name, CreationDate }: Group): object {
  return { Name, Arn: groupArn(Name), State: "ACTIVE", CreationDate, LastModificationDate: CreationDate };
}

function list(schedules: Schedules, query: URLSearchParams): object {
  const [group, prefix, state] = ["ScheduleGroup", "NamePrefix", "State"].map((name) => query.get(name));
  const matching = schedules
    .all()
    .filter((schedule) => (!group || schedule.GroupName === group) && (!state || schedule.State === state))
    .filter(({ Name }) => Name.startsWith(prefix ?? ""));
  const { page, NextToken } = takePage(matching, query.get("NextToken"), query.get("MaxResults"));
  const summaries = page.map(({ Name, GroupName, State, CreationDate, LastModificationDate, Target }) => {
    const dates = { CreationDate, LastModificationDate };
    return { Name, GroupName, State, ...dates, Arn: scheduleArn({ Name, GroupName }), Target: { Arn: Target.Arn } };
  });
  return { Schedules: summaries, NextToken };
}

function listGroups(schedules: Schedules, query: URLSearchParams): object {
  const matching = schedules.allGroups().filter(({ Name }) => Name.startsWith(query.get("NamePrefix") ?? ""));
  const { page, NextToken } = takePage(matching, query.get("NextToken"), query.get("MaxResults"));
  return { ScheduleGroups: page.map(describeGroup), NextToken };
}

export interface SchedulerOptions extends TargetPorts, StoredServiceOptions {
  readonly parseSchedule: ParseSchedule;
}

export interface SchedulerService extends StoredService {
  tick(): void;
}

const protocol = { maxBytes: 1024 * 1024, invalid: validation, messageMember: "Message" } as const;

/**
 * Creates EventBridge Scheduler for one machine.
 *
 * @example const scheduler = createScheduler({ dataDirectory, functions: lambda, startExecution, parseSchedule, clock });
 */
export function createScheduler(options: SchedulerOptions): SchedulerService {
  const clock = options.clock ?? systemClock;
  const store = new ServiceStore("scheduler", options);
  const schedules = new Schedules({ ...options, clock, db: store.db });
  const ready = store.open(() => schedules.open());

  return {
    signingName: "scheduler",
    ready,
    tick: () => schedules.tick(),
    handle: (request, response, caller) =>
      serveJson(request, response, protocol, async (body) => {
        await ready;
        const url = new URL(request.url ?? "/", "http://scheduler");
        const method = request.method ?? "GET";
        if (caller) for (const access of schedulerAccesses(method, url, body)) caller.authorize(access);
        return handleScheduler(schedules, { method, url, body });
      }),
    close: () => store.close(() => schedules.close()),
  };
}
