import type { Engine } from "./engine";
import { clientError } from "./errors";
import type { JobBook } from "./job-book";
import type { JobDefinitions } from "./job-definitions";
import { listJobs } from "./list-jobs";
import { jobArn } from "./names";
import type { Resources } from "./resources";
import { parse, schemas } from "./schemas";
import { makeJobs } from "./submit";
import type { Job } from "./types";

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
const text = (body: Body, name: string): string => {
  const value = body[name];
  if (typeof value !== "string" || value === "") throw clientError(`${name} must be given.`);
  return value;
};

/** Batch's operations by the last part of their path. */
export const operations: Readonly<Record<string, Operation>> = {
  createcomputeenvironment({ resources, engine }, body) {
    const made = resources.createEnvironment(parse(schemas.createComputeEnvironment, body));
    engine.dispatch();
    return { computeEnvironmentName: made.computeEnvironmentName, computeEnvironmentArn: made.computeEnvironmentArn };
  },
  updatecomputeenvironment({ resources, engine }, body) {
    const made = resources.updateEnvironment(parse(schemas.updateComputeEnvironment, body));
    engine.dispatch();
    return { computeEnvironmentName: made.computeEnvironmentName, computeEnvironmentArn: made.computeEnvironmentArn };
  },
  deletecomputeenvironment({ resources }, body) {
    resources.deleteEnvironment(text(body, "computeEnvironment"));
    return {};
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
  deletejobqueue({ resources, book, engine }, body) {
    const queue = resources.queue(text(body, "jobQueue"));
    resources.deleteQueue(text(body, "jobQueue"));
    // Deleting a queue ends its jobs, as in Batch.
    for (const job of [...book.current()]) {
      if (job.queue === queue?.jobQueueName && !job.parent) engine.terminate(job, "JobQueue deleted");
    }
    return {};
  },
  describejobqueues: ({ resources }, body) => ({ jobQueues: resources.describeQueues(list(body["jobQueues"])) }),
  createschedulingpolicy({ resources }, body) {
    const { name, arn } = resources.createPolicy(parse(schemas.createSchedulingPolicy, body));
    return { name, arn };
  },
  deleteschedulingpolicy({ resources }, body) {
    resources.deletePolicy(text(body, "arn"));
    return {};
  },
  describeschedulingpolicies: ({ resources }, body) => ({
    schedulingPolicies: resources.describePolicies(list(body["arns"])),
  }),
  listschedulingpolicies: ({ resources }) => ({
    schedulingPolicies: resources.describePolicies(undefined).map(({ arn }) => ({ arn })),
  }),
  registerjobdefinition({ definitions }, body) {
    const made = definitions.register(parse(schemas.registerJobDefinition, body));
    const { jobDefinitionName, jobDefinitionArn, revision } = made;
    return { jobDefinitionName, jobDefinitionArn, revision };
  },
  deregisterjobdefinition({ definitions }, body) {
    definitions.deregister(text(body, "jobDefinition"));
    return {};
  },
  describejobdefinitions: ({ definitions }, body) => ({
    jobDefinitions: definitions.describe({
      references: list(body["jobDefinitions"]),
      name: body["jobDefinitionName"] as string | undefined,
      status: body["status"] as string | undefined,
    }),
  }),
  submitjob({ book, engine, resources, definitions, now }, body) {
    const input = parse(schemas.submitJob, body);
    const jobs = makeJobs(input, {
      queue: resources.queue(input.jobQueue),
      definition: definitions.find(input.jobDefinition),
      now: now(),
      job: (id) => book.get(id),
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
  canceljob({ book, engine }, body) {
    const { jobId, reason } = parse(schemas.stopJob, body);
    engine.cancel(find(book, jobId), reason);
    return {};
  },
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

type Tags = Readonly<Record<string, string>>;

/** Answers TagResource, UntagResource and ListTagsForResource for jobs. Other resources get their tags at creation. */
export function handleTags(
  { book }: Pick<BatchBackend, "book">,
  method: string | undefined,
  arn: string,
  body: Readonly<Record<string, unknown>>,
  removed: readonly string[],
): object {
  const id = /:job\/(.+)$/.exec(arn)?.[1];
  const job = id === undefined ? undefined : book.get(id);
  if (!job) throw clientError(`The embedded Batch tags jobs only, and there is no job ${arn}.`);
  if (method === "GET") return { tags: job.tags };
  if (method === "POST") book.update(job, { tags: { ...job.tags, ...(body["tags"] as Tags) } });
  else
    book.update(job, { tags: Object.fromEntries(Object.entries(job.tags).filter(([key]) => !removed.includes(key))) });
  return {};
}
