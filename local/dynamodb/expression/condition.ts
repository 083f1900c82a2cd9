import { validation } from "../errors";
import { type AttributeType, type AttributeValue, typeOf } from "../value/attribute-value";
import { compareScalars } from "../value/compare";
import type { Comparator, Condition, ConditionFunction, Operand } from "./ast";
import { OperandParser } from "./operand-parser";
import type { Scope } from "./scope";
import { Tokens } from "./tokens";

const arity: Readonly<Record<ConditionFunction | "size", number>> = {
  attribute_exists: 1,
  attribute_not_exists: 1,
  begins_with: 2,
  size: 1,
};
export const conditionFunctions: ReadonlySet<string> = new Set(Object.keys(arity));
const comparators = ["=", "<>", "<=", ">=", "<", ">"] as const;

/**
 * Parses a condition, filter or key condition expression. Throws ValidationExceptions without the name of the
 * parameter.
 */
export function parseCondition(expression: string, scope: Scope): Condition {
  const parser = new ConditionParser(new Tokens(expression), scope);
  return parser.parse();
}

/**
 * A recursive-descent parser: or ← and ← not ← primary. A parenthesis may open a condition or an operand, as in `(a) =
 * :b`. Only the text behind it shows which, so `primary` parses either, and the caller checks for the one that it
 * needs.
 */
class ConditionParser extends OperandParser<Condition | Operand> {
  parse(): Condition {
    const condition = this.condition(this.or());
    this.tokens.expectEnd();
    return condition;
  }

  protected inner(): Condition | Operand {
    return this.or();
  }

  private or(): Condition | Operand {
    let left = this.and();
    while (this.tokens.at("OR")) {
      left = this.condition(left);
      this.tokens.next();
      left = { kind: "or", left, right: this.condition(this.and()) };
    }
    return left;
  }

  private and(): Condition | Operand {
    let left = this.not();
    while (this.tokens.at("AND")) {
      left = this.condition(left);
      this.tokens.next();
      left = { kind: "and", left, right: this.condition(this.not()) };
    }
    return left;
  }

  private not(): Condition | Operand {
    if (this.tokens.at("NOT")) {
      this.tokens.next();
      return { kind: "not", operand: this.condition(this.not()) };
    }
    return this.comparison();
  }

  private comparison(): Condition | Operand {
    const left = this.primary();
    const comparator = comparators.find((symbol) => this.tokens.at(symbol));
    if (comparator !== undefined) {
      const operand = this.operand(left);
      this.tokens.next();
      return this.compare(comparator, operand, this.operand(this.primary()));
    }
    if (this.tokens.at("BETWEEN")) {
      const operand = this.operand(left);
      this.tokens.next();
      const low = this.operand(this.primary());
      this.tokens.expect("AND");
      return this.between(operand, low, this.operand(this.primary()));
    }
    if (this.tokens.at("IN")) {
      const operand = this.operand(left);
      this.tokens.next();
      const list = this.operandList();
      for (const candidate of list) this.checkDistinct("IN", operand, candidate);
      return { kind: "in", operand, list };
    }
    return left;
  }

  private operandList(): Operand[] {
    this.tokens.expect("(");
    const list: Operand[] = [];
    do list.push(this.operand(this.primary()));
    while (this.tokens.take(","));
    this.tokens.expect(")");
    if (list.length > 100) throw this.wrongCount("IN", list.length);
    return list;
  }

  private primary(): Condition | Operand {
    const token = this.tokens.peek();
    if (token.kind === "word" && isKeyword(token.text)) throw this.tokens.syntaxError();
    return this.term();
  }

  protected call(): Condition | Operand {
    const name = this.tokens.next().text;
    const args = this.args(() => this.operand(this.primary()));
    if (!Object.hasOwn(arity, name)) throw validation(`Invalid function name; function: ${name}`);
    const fn = name as ConditionFunction | "size";
    this.checkCall(fn, args);
    return fn === "size" ? { kind: "size", of: args[0]! } : { kind: "function", name: fn, args };
  }

  private checkCall(name: ConditionFunction | "size", args: readonly Operand[]): void {
    if (args.length !== arity[name]) throw this.wrongCount(name, args.length);
    this.checkDistinct(name, args[0]!, args[1]);
    if (name === "attribute_exists" || name === "attribute_not_exists") {
      if (args[0]!.kind !== "path") throw this.noPath(name);
    } else if (name === "begins_with") {
      for (const arg of args) this.checkType(name, arg, (t) => t === "S" || t === "B");
    } else if (name === "size") {
      this.checkType(name, args[0]!, (t) => t !== "N" && t !== "BOOL" && t !== "NULL");
    }
  }

  private compare(operator: Comparator, left: Operand, right: Operand): Condition {
    this.checkDistinct(operator, left, right);
    if (operator !== "=" && operator !== "<>") {
      for (const operand of [left, right]) this.checkType(operator, operand, isOrdered);
    }
    return { kind: "compare", operator, left, right };
  }

  private between(operand: Operand, low: Operand, high: Operand): Condition {
    for (const bound of [low, high]) this.checkType("BETWEEN", bound, isOrdered);
    if (low.kind === "value" && high.kind === "value") {
      const bounds = `lower bound operand: AttributeValue: ${shown(low.value)}, upper bound operand: AttributeValue: ${shown(high.value)}`;
      if (typeOf(low.value) !== typeOf(high.value)) {
        const rule = "The BETWEEN operator requires same data type for lower and upper bounds";
        throw validation(`${rule}; ${bounds}`);
      } else if ((compareScalars(low.value, high.value) ?? 0) > 0) {
        const rule = "The BETWEEN operator requires upper bound to be greater than or equal to lower bound";
        throw validation(`${rule}; ${bounds}`);
      }
    }
    return { kind: "between", operand, low, high };
  }

  private checkType(name: string, operand: Operand, allowed: (type: AttributeType) => boolean): void {
    const type = immediateType(operand);
    if (type !== undefined && !allowed(type)) throw this.wrongType(name, type);
  }

  private condition(node: Condition | Operand): Condition {
    if (node.kind === "size") throw this.misuse("size");
    if (node.kind === "path" || node.kind === "value") throw this.tokens.syntaxError();
    return node;
  }

  private operand(node: Condition | Operand): Operand {
    if (node.kind === "path" || node.kind === "value" || node.kind === "size") return node;
    throw node.kind === "function" ? this.misuse(node.name) : this.tokens.syntaxError();
  }
}

function immediateType(operand: Operand): AttributeType | undefined {
  return operand.kind === "value" ? typeOf(operand.value) : operand.kind === "size" ? "N" : undefined;
}

function isOrdered(type: AttributeType): boolean {
  return type === "S" || type === "N" || type === "B";
}

function isKeyword(word: string): boolean {
  return /^(?:and|or|not|between|in)$/i.test(word);
}

function shown(value: AttributeValue): string {
  return Object.entries(value)
    .map(([type, content]) => `{${type}:${content}}`)
    .join("");
}
