import { type AttributeValue, attribute, emptyItem, type Item } from "../value/attribute-value";
import type { Path, Projection } from "./ast";
import { checkDistinctPaths, parsePath } from "./path";
import type { Scope } from "./scope";
import { Tokens } from "./tokens";

export function parseProjection(expression: string, scope: Scope): Projection {
  const tokens = new Tokens(expression);
  const paths: Path[] = [];
  do paths.push(parsePath(tokens, scope));
  while (tokens.take(","));
  tokens.expectEnd();
  checkDistinctPaths(paths);
  return paths;
}

/**
 * Returns the parts of an item that the paths select. Maps keep only the selected members. Lists keep only the selected
 * elements, without gaps and in their order. Paths without a value are skipped.
 */
export function project(item: Item, paths: Projection): Item {
  const out = emptyItem();
  for (const [name, rests] of groupByHead(paths)) {
    const value = attribute(item, name as string);
    const picked = value && pick(value, rests);
    if (picked) out[name as string] = picked;
  }
  return out;
}

type Rest = readonly (string | number)[];

function groupByHead(paths: readonly Rest[]): Map<string | number, Rest[]> {
  const groups = new Map<string | number, Rest[]>();
  for (const [head, ...rest] of paths) {
    const group = groups.get(head!);
    if (group) group.push(rest);
    else groups.set(head!, [rest]);
  }
  return groups;
}

function pick(value: AttributeValue, rests: readonly Rest[]): AttributeValue | undefined {
  if (rests.some((rest) => rest.length === 0)) return value;
  const groups = groupByHead(rests);
  if ("M" in value) {
    const members = emptyItem();
    for (const [name, inner] of groups) {
      const member = typeof name === "string" ? attribute(value.M, name) : undefined;
      const picked = member && pick(member, inner);
      if (picked) members[name as string] = picked;
    }
    return Object.keys(members).length > 0 ? { M: members } : undefined;
  }
  if ("L" in value) {
    const elements: AttributeValue[] = [];
    value.L.forEach((element, i) => {
      const inner = groups.get(i);
      const picked = inner && pick(element, inner);
      if (picked) elements.push(picked);
    });
    return elements.length > 0 ? { L: elements } : undefined;
  }
  return undefined;
}
