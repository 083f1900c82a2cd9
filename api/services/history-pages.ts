import { InvalidInputError } from "../../core/errors";
import type { HistoryEntry, Model } from "../../core/registry/model";
import type { ModelRepository } from "../../core/registry/repository";

/** A page of a model's history. */
interface HistoryPage {
  /** Newest first. */
  readonly items: readonly HistoryEntry[];
  /** Token of the next, older page; absent if there is none. */
  readonly nextToken?: string;
}

/**
 * Returns the newest page of a model's history, or the one after an earlier page. Entries are numbered without gaps and
 * never change. A page is therefore a range of keys, and the pages together are complete whatever is added in between.
 *
 * @param nextToken the newest revision of the page
 * @throws InvalidInputError for a token of no page of this model
 */
export async function historyPage(
  repository: Pick<ModelRepository, "historyBetween">,
  { name, revision }: Pick<Model, "name" | "revision">,
  { limit, nextToken }: { readonly limit: number; readonly nextToken?: string },
): Promise<HistoryPage> {
  const until = nextToken === undefined ? revision : Number(nextToken);
  if (nextToken !== undefined && (!/^[1-9]\d*$/.test(nextToken) || until > revision)) {
    const rule = "must be the nextToken of an earlier page of this model's history";
    throw new InvalidInputError("the page cannot be listed", [{ path: "nextToken", value: nextToken, rule }]);
  }
  const from = Math.max(1, until - limit + 1);
  const items = (await repository.historyBetween(name, from, until)).toReversed();
  return { items, ...(from > 1 && { nextToken: String(from - 1) }) };
}
