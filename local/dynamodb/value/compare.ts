import { type AttributeValue, attribute, setMembers, typeOf } from "./attribute-value";
import { compareNumbers } from "./number";

/** Compares strings as DynamoDB does, by their UTF-8 bytes. JavaScript compares UTF-16 units. */
export function compareStrings(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // Surrogates encode code points above U+FFFF, so they sort after U+E000–U+FFFF.
    return (isSurrogate(x) ? x + 0x10000 : x) - (isSurrogate(y) ? y + 0x10000 : y);
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

/** Compares two scalars of the same type (S, N or B). Returns undefined for other types. */
export function compareScalars(a: AttributeValue, b: AttributeValue): number | undefined {
  if ("S" in a && "S" in b) return compareStrings(a.S, b.S);
  if ("N" in a && "N" in b) return compareNumbers(a.N, b.N);
  if ("B" in a && "B" in b) return Buffer.compare(Buffer.from(a.B, "base64"), Buffer.from(b.B, "base64"));
  return undefined;
}

/**
 * Returns whether two values have the same type and value. Sets are compared without order. Numbers are canonical, so
 * their text is compared.
 */
export function equalValues(a: AttributeValue, b: AttributeValue): boolean {
  if ("S" in a) return "S" in b && a.S === b.S;
  if ("N" in a) return "N" in b && a.N === b.N;
  if ("B" in a) return "B" in b && a.B === b.B;
  if ("BOOL" in a) return "BOOL" in b && a.BOOL === b.BOOL;
  if ("NULL" in a) return "NULL" in b;
  if ("L" in a) {
    return "L" in b && a.L.length === b.L.length && a.L.every((element, i) => equalValues(element, b.L[i]!));
  }
  if ("M" in a) {
    if (!("M" in b)) return false;
    const names = Object.keys(a.M);
    return (
      names.length === Object.keys(b.M).length &&
      names.every((name) => {
        const other = attribute(b.M, name);
        return other !== undefined && equalValues(a.M[name]!, other);
      })
    );
  }
  if (typeOf(a) !== typeOf(b)) return false;
  const members = setMembers(a)!;
  const others = new Set(setMembers(b));
  return members.length === others.size && members.every((member) => others.has(member));
}
