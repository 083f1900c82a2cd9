import { InvalidInputError } from "../errors";
import type { HistoryEntry, Model } from "./model";
import type { ModelRepository } from "./repository";

/** A page of a model's history. */
export interface HistoryPage {
  /** Newest first. */
  readonly items: readonly HistoryEntry[];
  /** Token of the next, older page; absent if there is none. */
  readonly nextToken?: string;
}

/** Revisions under one name. A renamed model has some under each of its names. */
interface Stretch {
  readonly name: string;
  readonly from: number;
  readonly until: number;
}

/**
 * Returns the newest page of a model's history, or the one after an earlier page. Entries are numbered without gaps and
 * never change. A page is therefore a range of keys, and the pages together are complete whatever is added in between.
 *
 * @param model the model's present head
 * @throws InvalidInputError for a token of no page of this model
 */
export async function historyPage(
  repository: Pick<ModelRepository, "historyBetween">,
  model: Model,
  { limit, nextToken }: { readonly limit: number; readonly nextToken?: string },
): Promise<HistoryPage> {
  const stretches = stretchesOf(model);
  let left = nextToken === undefined ? stretches : olderThan(stretches, nextToken);
  const items: HistoryEntry[] = [];
  while (items.length < limit && left.length > 0) {
    const [{ name, from, until }, ...older] = left as [Stretch, ...Stretch[]];
    const first = Math.max(from, until - (limit - items.length) + 1);
    const found = await repository.historyBetween(name, first, until);
    items.push(...found.toReversed().map((entry) => (name === model.name ? entry : { ...entry, model: name })));
    left = first > from ? [{ name, from, until: first - 1 }, ...older] : older;
  }
  const next = left[0];
  return { items, ...(next && { nextToken: tokenOf(next) }) };
}

/** Newest first. */
function stretchesOf({ name, nameSince = 1, formerNames = [], revision }: Model): readonly Stretch[] {
  return [{ name, from: nameSince, until: revision }, ...formerNames.toReversed()];
}

function tokenOf({ name, until }: Stretch): string {
  return Buffer.from(JSON.stringify([name, until])).toString("base64url");
}

function olderThan(stretches: readonly Stretch[], token: string): readonly Stretch[] {
  const [name, until] = parsed(token);
  const at = stretches.findIndex((each) => each.name === name && each.from <= until && until <= each.until);
  if (at < 0) {
    const rule = "must be the nextToken of an earlier page of this model's history";
    throw new InvalidInputError("the page cannot be listed", [{ path: "nextToken", value: token, rule }]);
  }
  return [{ ...stretches[at]!, until }, ...stretches.slice(at + 1)];
}

function parsed(token: string): readonly [string, number] {
  try {
    const read: unknown = JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
    if (Array.isArray(read) && typeof read[0] === "string" && Number.isInteger(read[1])) return [read[0], read[1]];
  } catch {
    // The token is invalid.
  }
  return ["", 0];
}
