import type * as z from "zod";
import { summarizeJob } from "./describe";
import type { Engine } from "./engine";
import { clientError } from "./errors";
import type { JobBook } from "./job-book";
import type { JobDefinitions } from "./job-definitions";
import { jobArn, nameOf } from "./names";
import type { Resources } from "./resources";
import { parse, schemas } from "./schemas";
import { makeJobs } from "./submit";
import type { Job, ListedJob } from "./types";

type Input = z.infer<typeof schemas.listJobs>;

/** The maximum number of jobs that Batch returns in one page. */
const pageLimit = 100;

/**
 * Answers ListJobs for one queue or for the children of one parent. Without a status it returns the RUNNING jobs. A
 * filter searches all jobs.
 */
function listJobs(book: JobBook, input: Input): object {
  const parents = [input.jobQueue, input.arrayJobId, input.multiNodeJobId].filter((value) => value !== undefined);
  if (parents.length !== 1) throw clientError("Give exactly one of jobQueue, arrayJobId and multiNodeJobId.");
  const filter = input.filters?.[0];
  const status = input.jobStatus ?? (filter ? undefined : "RUNNING");
  const matching = candidates(book, input, (job) =>
    filter && input.jobQueue ? passes(job, filter) : status === undefined || job.status === status,
  );
  const after =
    input.nextToken === undefined ? -1 : matching.findIndex((job) => job.jobId === decode(input.nextToken!));
  const size = Math.min(input.maxResults ?? pageLimit, pageLimit);
  const page = matching.slice(after + 1, after + 1 + size);
  const more = after + 1 + size < matching.length;
  return { jobSummaryList: page.map(summarizeJob), ...(more ? { nextToken: encode(page.at(-1)!.jobId) } : {}) };
}

function candidates(book: JobBook, input: Input, matches: (job: ListedJob) => boolean): readonly ListedJob[] {
  const parentId = input.arrayJobId ?? input.multiNodeJobId;
  if (parentId !== undefined) {
    const parent = book.get(parentId);
    return parent ? book.children(parent).filter(matches) : [];
  }
  const queue = nameOf(input.jobQueue!);
  return [...book.listed()]
    .filter((job) => job.queue === queue && matches(job))
    .sort((a, b) => b.createdAt - a.createdAt || (a.jobId < b.jobId ? -1 : 1));
}

/** A value matches whatever its case, and may end with `*`. */
function passes(job: ListedJob, { name, values = [] }: { name?: string; values?: string[] }): boolean {
  if (name !== "JOB_NAME") throw clientError(`Filter '${name}' is not implemented; the embedded Batch has JOB_NAME.`);
  const jobName = job.jobName.toLowerCase();
  return values
    .map((value) => value.toLowerCase())
    .some((value) => (value.endsWith("*") ? jobName.startsWith(value.slice(0, -1)) : value === jobName));
}

function encode(jobId: string): string {
  return Buffer.from(jobId).toString("base64url");
}

function decode(token: string): string {
  return Buffer.from(token, "base64url").toString("utf8");
}

export interface BatchBackend {
  readonly book: JobBook;
  readonly engine: Engine;
  readonly resources: Resources;
  readonly definitions: JobDefinitions;
  readonly now: () => number;
}

type Body = Readonly<Record<string, unknown>>;
type Operation = (backend: BatchBackend, body: Body) => object;

const list = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) && value.length > 0 ? value.map(String) : undefined;

export const operations: Readonly<Record<string, Operation>> = {
  createcomputeenvironment({ resources, engine }, body) {
    const environment = resources.createEnvironment(parse(schemas.createComputeEnvironment, body));
    engine.dispatch();
    return {
      computeEnvironmentName: environment.computeEnvironmentName,
      computeEnvironmentArn: environment.computeEnvironmentArn,
    };
  },
  describecomputeenvironments: ({ resources }, body) => ({
    computeEnvironments: resources.describeEnvironments(list(body["computeEnvironments"])),
  }),
  createjobqueue({ resources }, body) {
    const { jobQueueName, jobQueueArn } = resources.createQueue(parse(schemas.createJobQueue, body));
    return { jobQueueName, jobQueueArn };
  },
  updatejobqueue({ resources, engine }, body) {
    const { jobQueueName, jobQueueArn } = resources.updateQueue(parse(schemas.updateJobQueue, body));
    engine.dispatch();
    return { jobQueueName, jobQueueArn };
  },
  describejobqueues: ({ resources }, body) => ({ jobQueues: resources.describeQueues(list(body["jobQueues"])) }),
  createschedulingpolicy({ resources }, body) {
    const { name, arn } = resources.createPolicy(parse(schemas.createSchedulingPolicy, body));
    return { name, arn };
  },
  describeschedulingpolicies: ({ resources }, body) => ({
    schedulingPolicies: resources.describePolicies(list(body["arns"])),
  }),
  registerjobdefinition({ definitions }, body) {
    const definition = definitions.register(parse(schemas.registerJobDefinition, body));
    const { jobDefinitionName, jobDefinitionArn, revision } = definition;
    return { jobDefinitionName, jobDefinitionArn, revision };
  },
  describejobdefinitions: ({ definitions }, body) => ({
    jobDefinitions: definitions.describe({
      references: list(body["jobDefinitions"]),
      name: body["jobDefinitionName"] as string | undefined,
      status: body["status"] as string | undefined,
    }),
  }),
  submitjob({ engine, resources, definitions, now }, body) {
    const input = parse(schemas.submitJob, body);
    const jobs = makeJobs(input, {
      queue: resources.queue(input.jobQueue),
      definition: definitions.find(input.jobDefinition),
      now: now(),
    });
    engine.submit(jobs);
    const { jobId, jobName } = jobs[0]!;
    return { jobId, jobName, jobArn: jobArn(jobId) };
  },
  describejobs: ({ book }, body) => ({
    jobs: parse(schemas.describeJobs, body)
      .jobs.map((id) => book.get(id))
      .filter((job): job is Job => job !== undefined)
      .map((job) => book.describe(job)),
  }),
  listjobs: ({ book }, body) => listJobs(book, parse(schemas.listJobs, body)),
  terminatejob({ book, engine }, body) {
    const { jobId, reason } = parse(schemas.stopJob, body);
    engine.terminate(find(book, jobId), reason);
    return {};
  },
};

export function find(book: JobBook, jobId: string): Job {
  const job = book.get(jobId);
  if (!job) throw clientError(`Job ${jobId} does not exist.`);
  return job;
}
