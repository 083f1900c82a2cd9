import { validation } from "../errors";
import { type AttributeValue, attribute, type Item, setMembers, typeOf } from "../value/attribute-value";
import { addNumbers, subtractNumbers } from "../value/number";
import type { Path, SetValue, Update, UpdateAction } from "./ast";
import { valueAt } from "./path";

/**
 * Returns the item after the update. Operands and list positions refer to the item before the update. Removed elements
 * leave holes, which are closed at the end. Elements set past the end of a list are appended in order of position.
 */
export function applyUpdate(update: Update, before: Item): Item {
  const sets = new Map(update.map((action) => [action, operand(action, before)]));
  const draft: DraftMap = Object.assign(Object.create(null), before);
  const touchedLists = new Set<DraftList>();
  for (const action of update) write(draft, action, sets.get(action), touchedLists);
  for (const list of touchedLists) close(list);
  return draft as Item;
}

/**
 * A map in the draft. Containers on the path to a change are copied before they are changed. The rest is shared with
 * the old item.
 */
type DraftMap = Record<string, AttributeValue | undefined>;
type DraftList = (AttributeValue | undefined)[];

function operand(action: UpdateAction, before: Item): AttributeValue | undefined {
  if (action.kind === "set") return evaluate(action.value, before);
  if (action.kind === "remove") return undefined;
  const existing = valueAt(before, action.path);
  if (existing !== undefined && typeOf(existing) !== typeOf(action.value)) throw incorrectType();
  return added(existing, action.value);
}

function evaluate(value: SetValue, item: Item): AttributeValue {
  switch (value.kind) {
    case "value":
      return value.value;
    case "path": {
      const current = valueAt(item, value.path);
      if (current === undefined) {
        throw validation("The provided expression refers to an attribute that does not exist in the item");
      }
      return current;
    }
    case "if_not_exists": {
      // Both operands are evaluated, because a missing default is an error even if it is not needed.
      const otherwise = evaluate(value.otherwise, item);
      return valueAt(item, value.path) ?? otherwise;
    }
    case "list_append": {
      const left = evaluate(value.left, item);
      const right = evaluate(value.right, item);
      if (!("L" in left && "L" in right)) throw incorrectType();
      return { L: [...left.L, ...right.L] };
    }
    case "plus":
    case "minus": {
      const left = evaluate(value.left, item);
      const right = evaluate(value.right, item);
      if (!("N" in left && "N" in right)) throw incorrectType();
      return { N: value.kind === "plus" ? addNumbers(left.N, right.N) : subtractNumbers(left.N, right.N) };
    }
  }
}

function added(existing: AttributeValue | undefined, value: AttributeValue): AttributeValue {
  if (existing === undefined) return value;
  if ("N" in existing && "N" in value) return { N: addNumbers(existing.N, value.N) };
  return withMembers(existing, [...new Set([...setMembers(existing)!, ...setMembers(value)!])]);
}

function withMembers(set: AttributeValue, members: readonly string[]): AttributeValue {
  if ("SS" in set) return { SS: members };
  return "NS" in set ? { NS: members } : { BS: members };
}

function write(
  draft: DraftMap,
  action: UpdateAction,
  value: AttributeValue | undefined,
  touchedLists: Set<DraftList>,
): void {
  const container = containerOf(draft, action.path, touchedLists);
  const last = action.path.at(-1)!;
  if (Array.isArray(container)) {
    if (typeof last !== "number") throw invalidPath();
    if (value !== undefined) container[last] = value;
    else if (last < container.length) container[last] = undefined;
  } else {
    if (typeof last === "number") throw invalidPath();
    if (value !== undefined) container[last] = value;
    else delete container[last];
  }
}

function containerOf(draft: DraftMap, path: Path, touchedLists: Set<DraftList>): DraftMap | DraftList {
  let container: DraftMap | DraftList = draft;
  for (const part of path.slice(0, -1)) {
    if (Array.isArray(container) !== (typeof part === "number")) throw invalidPath();
    const value: AttributeValue | undefined = Array.isArray(container)
      ? container[part as number]
      : attribute(container as Item, part as string);
    if (value === undefined || !("M" in value || "L" in value)) throw invalidPath();
    const inner: DraftMap | DraftList = "M" in value ? ownMap(value.M) : ownList(value.L, touchedLists);
    (container as DraftMap)[part] = (Array.isArray(inner) ? { L: inner } : { M: inner }) as AttributeValue;
    container = inner;
  }
  return container;
}

function ownMap(map: Item): DraftMap {
  return Object.assign(Object.create(null), map);
}

/** Copies a list, unless this update has already copied it. The holes must stay in the copy. */
function ownList(list: readonly AttributeValue[], touchedLists: Set<DraftList>): DraftList {
  if (touchedLists.has(list as DraftList)) return list as DraftList;
  const copy: DraftList = [...list];
  touchedLists.add(copy);
  return copy;
}

/**
 * Closes the holes in place, because the draft refers to this array. It visits only the positions in use, because
 * `l[4294967294]` is legal.
 */
function close(list: DraftList): void {
  const kept = Object.keys(list)
    .map((position) => list[Number(position)])
    .filter((element) => element !== undefined);
  list.length = 0;
  for (const element of kept) list.push(element);
}

function incorrectType(): Error {
  return validation("An operand in the update expression has an incorrect data type");
}

function invalidPath(): Error {
  return validation("The document path provided in the update expression is invalid for update");
}
