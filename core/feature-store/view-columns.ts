import type { ColumnSchema } from "../datasets/shapes";

export interface OriginatedColumn {
  readonly column: ColumnSchema;
  readonly feature: string;
}

/** Groups the columns that come from views, by `view@version`, in their order. */
export function viewsOfColumns(schema: readonly ColumnSchema[]): ReadonlyMap<string, readonly OriginatedColumn[]> {
  const views = new Map<string, OriginatedColumn[]>();
  for (const column of schema) {
    if (column.from === undefined) continue;
    const { view, feature } = column.from;
    views.set(view, [...(views.get(view) ?? []), { column, feature }]);
  }
  return views;
}
