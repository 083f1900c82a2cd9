import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { BatchClient, ListJobsCommand } from "@aws-sdk/client-batch";
import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { ListExecutionsCommand, SFNClient } from "@aws-sdk/client-sfn";
import { parse } from "yaml";
import { localConfig } from "../../../stack/settings";
import { drained, type Load } from "../../../test/support/operation-verdict";
import { toyCsv, toyJob, toySchema } from "../../../test/support/toy";
import type { Api } from "../api";
import type { KillableStack } from "../stack";
import { startCommand } from "./commands";

interface Run {
  readonly runId: string;
  readonly status: string;
  readonly phase?: string;
  readonly outcome?: { readonly decision: string; readonly version?: number };
  readonly weightsSha256?: string;
  readonly failure?: unknown;
}

interface Cause {
  readonly id: string;
  readonly state: string;
}

const roundsARun = 6;
/** A function whose process was killed is invoked again after one minute, then after two, as Lambda does. */
const patienceMs = 300_000;
const monitor = "kills";
const triggerName = "on-drift";

/** Training runs, from submission to promotion, and runs that drift events start. */
export async function trainingLoads(
  stack: KillableStack,
  api: Api,
  approver: Api,
  directory: string,
  token: string,
): Promise<readonly Load[]> {
  const [csv, schema] = [join(directory, "toy.csv"), join(directory, "toy.yaml")];
  writeFileSync(csv, toyCsv(300));
  writeFileSync(schema, toySchema);
  await startCommand(stack, token, ["datasets", "push", "toy", "--file", csv, "--schema", schema]).output;
  const job = (experiment: string) => ({ ...(parse(toyJob(2)) as object), experiment, registerAs: experiment });
  const runs = new Runs(api, approver);
  const submit = (experiment: string, key: string, noCache: boolean) =>
    api.call("POST", "/v1/training-runs", { job: job(experiment), noCache }, { "idempotency-key": key });
  // Each disturbed run must end with its weights.
  await submit("undisturbed", "kills-undisturbed", true);
  await runs.ended("undisturbed");
  const [undisturbed] = await runs.of("undisturbed");
  const on = { type: "drift", monitor, severity: "critical" };
  const define = (method: string, path: string, experiment: string) =>
    api.call(method, path, { name: triggerName, on, start: { job: job(experiment) }, cooldownMinutes: 0 });
  await define("POST", "/v1/triggers", "triggered-0");
  const bus = new EventBridgeClient(stack.connection);
  return [
    trainingLoad(runs, (id) => submit(id, id, true), undisturbed!.weightsSha256!),
    triggerLoad(
      runs,
      bus,
      (experiment) => define("PUT", `/v1/triggers/${triggerName}`, experiment),
      undisturbed!.weightsSha256!,
    ),
    queuesLoad(stack),
  ];
}

class Runs {
  private readonly approved = new Set<string>();

  constructor(
    readonly api: Api,
    readonly approver: Api,
  ) {}

  async of(experiment: string): Promise<readonly Run[]> {
    const runs: Run[] = [];
    let token = "";
    do {
      const page = await this.api.find<{ readonly runs: readonly Run[]; readonly nextToken?: string }>(
        `/v1/training-runs?experiment=${experiment}&limit=200${token}`,
      );
      runs.push(...(page?.runs ?? []));
      token = page?.nextToken ? `&nextToken=${encodeURIComponent(page.nextToken)}` : "";
    } while (token !== "");
    return runs;
  }

  /** Waits until no run of an experiment is open, and approves the versions that they registered. */
  async ended(experiment: string): Promise<void> {
    await drained(`runs of ${experiment} are open`, () => this.open(experiment), patienceMs);
  }

  private async open(experiment: string): Promise<readonly string[]> {
    const all = await this.of(experiment);
    for (const { outcome } of all) {
      if (outcome?.decision !== "registered" || this.approved.has(`${experiment}#${outcome.version}`)) continue;
      const path = `/v1/models/${experiment}/versions/${outcome.version}/approvals`;
      // A repetition of the same decision changes nothing.
      await this.approver.call("POST", path, { decision: "approved" }).then(
        () => this.approved.add(`${experiment}#${outcome.version}`),
        () => undefined,
      );
    }
    const isDone = ({ status, outcome }: Run): boolean =>
      outcome?.decision === "registered"
        ? this.approved.has(`${experiment}#${outcome.version}`)
        : status !== "queued" && status !== "running";
    return all
      .filter((run) => !isDone(run))
      .map(({ runId, status, phase }) => `${runId} is ${status}, ${phase ?? "not approved"}`);
  }
}

function check(run: Run, weightsSha256: string): void {
  if (run.status !== "completed") throw new Error(`${run.runId} is ${run.status}: ${JSON.stringify(run.failure)}`);
  if (run.weightsSha256 !== weightsSha256) throw new Error(`${run.runId} has the weights ${run.weightsSha256}`);
}

function trainingLoad(runs: Runs, submit: (id: string) => Promise<unknown>, weightsSha256: string): Load {
  let active: { readonly id: string; age: number } | undefined;
  const settle = async (patient: boolean): Promise<void> => {
    if (active === undefined) return;
    active.age += 1;
    if (!patient && active.age < roundsARun) return;
    await runs.ended(active.id);
    active = undefined;
  };
  return {
    name: "training",
    weight: 0,
    extra(random, id) {
      if (active !== undefined || random() > 0.3) return undefined;
      active = { id, age: 0 };
      return {
        ...{ kind: "training run", id, repeatable: true },
        send: async () => void (await submit(id)),
        async count() {
          const found = await runs.of(id);
          if (active?.id !== id) for (const run of found) check(run, weightsSha256);
          return found.length;
        },
      };
    },
    settle: () => settle(false),
    async audit() {
      await settle(true);
      return [];
    },
  };
}

function queuesLoad(stack: KillableStack): Load {
  const { stateMachineArn, jobQueues } = localConfig();
  const states = new SFNClient(stack.connection);
  const batch = new BatchClient(stack.connection);
  const open = async (): Promise<readonly string[]> => {
    const running = { stateMachineArn, statusFilter: "RUNNING" as const };
    const { executions = [] } = await states.send(new ListExecutionsCommand(running));
    const left = executions.map(({ name }) => `execution ${name}`);
    for (const jobQueue of Object.values(jobQueues))
      for (const jobStatus of ["SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING"] as const) {
        const { jobSummaryList = [] } = await batch.send(new ListJobsCommand({ jobQueue, jobStatus }));
        left.push(...jobSummaryList.map(({ jobName }) => `job ${jobName} ${jobStatus}`));
      }
    return left;
  };
  return {
    ...{ name: "queues", weight: 0 },
    async audit() {
      await drained("open after their runs", open, patienceMs);
      return [];
    },
  };
}

/** Events of drift. The trigger's job differs after each wait, so that the first event of the next ones starts a run. */
function triggerLoad(
  runs: Runs,
  bus: EventBridgeClient,
  define: (experiment: string) => Promise<unknown>,
  weightsSha256: string,
): Load {
  const accepted = new Set<string>();
  let waiting = 0;
  let age = 0;
  let windows = 0;
  let jobs = 0;
  const causes = async (): Promise<readonly Cause[]> => {
    const all: Cause[] = [];
    let token = "";
    do {
      const path = `/v1/triggers/${triggerName}/causes?limit=100${token}`;
      const page = await runs.api.call<{ readonly items: readonly Cause[]; readonly nextToken?: string }>("GET", path);
      all.push(...page.items);
      token = page.nextToken ? `&nextToken=${encodeURIComponent(page.nextToken)}` : "";
    } while (token !== "");
    return all;
  };
  const settle = async (patient: boolean): Promise<void> => {
    age += 1;
    if (waiting === 0 || (!patient && age < roundsARun)) return;
    const open = async () => {
      const states = new Map((await causes()).map(({ id, state }) => [id, state]));
      return [...accepted].filter((cause) => !/^(submitted|unchanged)$/.test(states.get(cause) ?? ""));
    };
    await drained("events without a result", open, patienceMs);
    const experiment = `triggered-${jobs}`;
    await runs.ended(experiment);
    const found = await runs.of(experiment);
    if (found.length !== 1) throw new Error(`${found.length} runs of ${experiment}`);
    check(found[0]!, weightsSha256);
    jobs += 1;
    await define(`triggered-${jobs}`);
    waiting = 0;
    age = 0;
  };
  return {
    name: "triggers",
    weight: 0,
    extra(random, id) {
      if (random() > 0.2) return undefined;
      windows += 1;
      const windowEnd = new Date(Date.UTC(2026, 0, 1, windows)).toISOString();
      const cause = `drift:${monitor}@${windowEnd}`;
      const detail = { platform: "ringmaster", team: "default", monitor, windowEnd, severity: "critical" };
      const times = random() < 0.3 ? 2 : 1;
      return {
        ...{ kind: "trigger by an event", id, repeatable: true },
        async send() {
          const entry = { Source: "ringmaster", DetailType: "Drift Detected", Detail: JSON.stringify(detail) };
          await bus.send(new PutEventsCommand({ Entries: Array(times).fill(entry) }));
          accepted.add(cause);
          waiting += 1;
        },
        async count() {
          const found = (await causes()).filter(({ id: known }) => known === cause).length;
          // The event is delivered after its answer.
          return waiting > 0 && accepted.has(cause) ? Math.max(found, 1) : found;
        },
      };
    },
    settle: () => settle(false),
    async audit() {
      await settle(true);
      return [];
    },
  };
}
