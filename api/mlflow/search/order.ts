import { MlflowFilterError } from "../../../core/tracking/search/errors";
import { mlflowTokens } from "./tokens";

export interface MlflowOrder {
  /** The column, as it was written but for quotes. */
  readonly column: string;
  readonly ascending: boolean;
}

/** One of MLflow's `order_by` texts: a column, and `ASC` or `DESC`. @throws MlflowFilterError */
export function parseOrderText(text: string): MlflowOrder {
  const unparsable = new MlflowFilterError(`Invalid order_by clause '${text}'. Could not be parsed.`);
  const tokens = text.length > 10_000 || text !== text.trim() ? [] : mlflowTokens(text);
  const [column, direction] = tokens;
  if (column?.kind !== "identifier" || tokens.length > 2) throw unparsable;
  if (direction !== undefined && direction.kind !== "identifier") throw unparsable;
  // What stands between quotes in a name is not cut: `metrics."a b" DESC`.
  const name = column.raw.replaceAll("`", '"').replaceAll(/(["'])(.*?)\1/g, "$2");
  const order = direction?.raw.toLowerCase() ?? "asc";
  if (order !== "asc" && order !== "desc")
    throw new MlflowFilterError(`Invalid ordering key in order_by clause '${text}'.`);
  return { column: name.trim(), ascending: order === "asc" };
}

/** MLflow answers 500 to this; it is the caller's mistake, and said so. */
export function refuseDuplicates(columns: readonly string[], texts: readonly string[]): void {
  if (new Set(columns).size === columns.length) return;
  throw new MlflowFilterError(`\`order_by\` contains duplicate fields: [${texts.map((one) => `'${one}'`).join(", ")}]`);
}
