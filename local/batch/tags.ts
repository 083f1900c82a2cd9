import type { BatchBackend } from "./api";
import { clientError } from "./errors";

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
