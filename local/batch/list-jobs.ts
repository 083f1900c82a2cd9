import type * as z from "zod";
import { summarizeJob } from "./describe";
import { clientError } from "./errors";
import type { JobBook } from "./job-book";
import { nameOf } from "./names";
import type { schemas } from "./schemas";
import type { ListedJob } from "./types";

type Input = z.infer<typeof schemas.listJobs>;

/** The maximum number of jobs that Batch returns in one page. */
const pageLimit = 100;

/**
 * Answers ListJobs for one queue or for the children of one parent. Without a status it returns the RUNNING jobs. A
 * filter searches all jobs.
 */
export function listJobs(book: JobBook, input: Input): object {
  const given = [input.jobQueue, input.arrayJobId, input.multiNodeJobId].filter((value) => value !== undefined);
  if (given.length !== 1) throw clientError("Give exactly one of jobQueue, arrayJobId and multiNodeJobId.");
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

function passes(job: ListedJob, { name, values = [] }: { name?: string; values?: string[] }): boolean {
  switch (name) {
    case "JOB_NAME":
      return values.some((value) => like(value, job.jobName, true));
    case "JOB_DEFINITION":
      return values.some(
        (value) => like(nameOf(value), nameOf(job.definition)) || like(value, nameOf(job.definition).split(":")[0]!),
      );
    case "SHARE_IDENTIFIER":
      return values.some((value) => like(value, job.shareIdentifier ?? ""));
    case "BEFORE_CREATED_AT":
      return job.createdAt < Number(values[0]);
    case "AFTER_CREATED_AT":
      return job.createdAt > Number(values[0]);
    default:
      throw clientError(
        `Filter '${name}' is not one of JOB_NAME, JOB_DEFINITION, SHARE_IDENTIFIER, BEFORE_CREATED_AT, AFTER_CREATED_AT.`,
      );
  }
}

function like(pattern: string, value: string, ignoreCase = false): boolean {
  if (ignoreCase) return like(pattern.toLowerCase(), value.toLowerCase());
  return pattern.endsWith("*") ? value.startsWith(pattern.slice(0, -1)) : value === pattern;
}

function encode(jobId: string): string {
  return Buffer.from(jobId).toString("base64url");
}

function decode(token: string): string {
  return Buffer.from(token, "base64url").toString("utf8");
}
