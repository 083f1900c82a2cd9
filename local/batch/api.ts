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

/** Batch's operations by the last part of their path. */
export const operations: Readonly<Record<string, Operation>> = {
  createcomputeenvironment({ resources, engine }, body) {
    const made = resources.createEnvironment(parse(schemas.createComputeEnvironment, body));
    engine.dispatch();
    return { computeEnvironmentName: made.computeEnvironmentName, computeEnvironmentArn: made.computeEnvironmentArn };
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
    const made = definitions.register(parse(schemas.registerJobDefinition, body));
    const { jobDefinitionName, jobDefinitionArn, revision } = made;
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
