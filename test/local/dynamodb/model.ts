export interface Row {
  readonly pk: string;
  readonly sk: number;
  readonly g: string | undefined;
  readonly score: number | undefined;
  readonly v: number | undefined;
}

export type Model = ReadonlyMap<string, Row>;
type Key = Pick<Row, "pk" | "sk">;

export type Action =
  | { readonly kind: "put"; readonly row: Row; readonly onlyNew: boolean }
  | { readonly kind: "delete"; readonly key: Key }
  | { readonly kind: "add"; readonly key: Key; readonly amount: number }
  | { readonly kind: "move"; readonly key: Key; readonly g: string | undefined };

export function itemId(action: Action): string {
  const { pk, sk } = action.kind === "put" ? action.row : action.key;
  return `${pk}/${sk}`;
}

/** Returns the model after all of the actions, or undefined if a condition fails and none of them is applied. */
export function applyToModel(model: Model, actions: readonly Action[]): Model | undefined {
  const next = new Map(model);
  for (const action of actions) {
    const id = itemId(action);
    const before = model.get(id);
    if (action.kind === "put") {
      if (action.onlyNew && before) return undefined;
      next.set(id, action.row);
    } else if (action.kind === "delete") next.delete(id);
    else if (action.kind === "add")
      next.set(id, { ...(before ?? empty(action.key)), v: (before?.v ?? 0) + action.amount });
    else if (!before) return undefined;
    else next.set(id, { ...before, g: action.g });
  }
  return next;
}

function empty({ pk, sk }: Key): Row {
  return { pk, sk, g: undefined, score: undefined, v: undefined };
}

export function toRequest(TableName: string, action: Action): { readonly name: string; readonly input: object } {
  switch (action.kind) {
    case "put":
      return {
        name: "Put",
        input: {
          TableName,
          Item: toWire(action.row),
          ...(action.onlyNew ? { ConditionExpression: "attribute_not_exists(pk)" } : {}),
        },
      };
    case "delete":
      return { name: "Delete", input: { TableName, Key: toWire(action.key) } };
    case "add":
      return {
        name: "Update",
        input: {
          TableName,
          Key: toWire(action.key),
          UpdateExpression: "ADD v :amount",
          ExpressionAttributeValues: { ":amount": { N: String(action.amount) } },
        },
      };
    case "move":
      return {
        name: "Update",
        input: {
          TableName,
          Key: toWire(action.key),
          ConditionExpression: "attribute_exists(pk)",
          ...(action.g === undefined
            ? { UpdateExpression: "REMOVE g" }
            : { UpdateExpression: "SET g = :g", ExpressionAttributeValues: { ":g": { S: action.g } } }),
        },
      };
  }
}

function toWire(row: Partial<Row>): object {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, typeof value === "number" ? { N: String(value) } : { S: value }]),
  );
}
