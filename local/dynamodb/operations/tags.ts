import { resourceNotFound, validation } from "../errors";
import { type TableDefinition, toDefinition } from "../store/table";
import { type Fields, tableArn } from "../wire/fields";
import type { Context, Operation } from "./context";

export function readTags(fields: Fields): Record<string, string> {
  const tags = fields.structures("Tags") ?? [];
  return Object.fromEntries(tags.map((tag) => [tag.requiredString("Key"), tag.requiredString("Value")]));
}

export const tagResource: Operation = (context, fields) => {
  const added = readTags(fields);
  return change(context, fields, (tags) => ({ ...tags, ...added }));
};

export const untagResource: Operation = (context, fields) => {
  const removed = new Set(fields.strings("TagKeys"));
  return change(context, fields, (tags) =>
    Object.fromEntries(Object.entries(tags).filter(([key]) => !removed.has(key))),
  );
};

export const listTagsOfResource: Operation = async ({ catalog }, fields) => {
  const table = catalog.find(resourceName(fields));
  if (!table) throw resourceNotFound();
  return { Tags: Object.entries(table.tags).map(([Key, Value]) => ({ Key, Value })) };
};

type Tags = TableDefinition["tags"];

function change({ store, catalog }: Context, fields: Fields, next: (tags: Tags) => Tags): Promise<object> {
  const name = resourceName(fields);
  return store.write((draft) => {
    const definition = toDefinition(catalog.get(name));
    catalog.replace(draft, { ...definition, tags: next(definition.tags) });
    return {};
  });
}

/** Returns the table name in the request's ARN, because tags belong to ARNs. */
function resourceName(fields: Fields): string {
  const arn = fields.requiredString("ResourceArn");
  fields.check();
  const name = tableArn.exec(arn)?.[1];
  if (!name) throw validation(`Invalid TableArn: Invalid ResourceArn provided as input ${arn}`);
  return name;
}
