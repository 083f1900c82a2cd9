import { validation } from "../errors";
import { type AttributeType, typeOf } from "../value/attribute-value";
import type { SetValue, Update, UpdateAction } from "./ast";
import { conditionFunctions } from "./condition";
import { OperandParser } from "./operand-parser";
import { checkDistinctPaths, parsePath } from "./path";
import type { Scope } from "./scope";
import { Tokens } from "./tokens";

const typeNames: Readonly<Partial<Record<AttributeType, string>>> = {
  S: "STRING",
  N: "NUMBER",
  B: "BINARY",
  NULL: "NULL",
  BOOL: "BOOLEAN",
  L: "LIST",
  M: "MAP",
};
export function parseUpdate(expression: string, scope: Scope): Update {
  return new UpdateParser(new Tokens(expression), scope).parse();
}

class UpdateParser extends OperandParser<SetValue> {
  private readonly actions: UpdateAction[] = [];

  parse(): Update {
    const seen = new Set<string>();
    do {
      const section = this.section();
      if (seen.has(section)) {
        throw validation(`The "${section}" section can only be used once in an update expression;`);
      }
      seen.add(section);
    } while (this.tokens.peek().kind !== "end");
    checkDistinctPaths(this.actions.map((action) => action.path));
    return this.actions;
  }

  private section(): string {
    const section = ["SET", "REMOVE", "ADD"].find((word) => this.tokens.at(word));
    if (section === undefined) throw this.tokens.syntaxError();
    this.tokens.next();
    do this.actions.push(this.action(section));
    while (this.tokens.take(","));
    return section;
  }

  private action(section: string): UpdateAction {
    const path = parsePath(this.tokens, this.scope);
    if (section === "REMOVE") return { kind: "remove", path };
    if (section === "SET") {
      this.tokens.expect("=");
      return { kind: "set", path, value: this.sum() };
    }
    if (this.tokens.peek().kind !== "value") throw this.tokens.syntaxError();
    const value = this.scope.value(this.tokens.next().text);
    const type = typeOf(value);
    const name = typeNames[type];
    if (name !== undefined && type !== "N") {
      throw validation(`Incorrect operand type for operator or function; operator: ${section}, operand type: ${name}`);
    }
    return { kind: "add", path, value };
  }

  protected inner(): SetValue {
    return this.sum();
  }

  private sum(): SetValue {
    const left = this.term();
    const sign = (["+", "-"] as const).find((symbol) => this.tokens.at(symbol));
    if (sign === undefined) return left;
    this.tokens.next();
    const right = this.term();
    for (const operand of [left, right]) {
      this.checkNesting(operand);
      this.checkType(sign, operand, "N");
    }
    return { kind: sign === "+" ? "plus" : "minus", left, right };
  }

  protected call(): SetValue {
    const name = this.tokens.next().text;
    const args = this.args(() => this.term());
    if (name !== "if_not_exists" && name !== "list_append") {
      throw validation(
        conditionFunctions.has(name)
          ? `The function is not allowed in an update expression; function: ${name}`
          : `Invalid function name; function: ${name}`,
      );
    }
    const [left, right] = args;
    if (left === undefined || right === undefined || args.length > 2) throw this.wrongCount(name, args.length);
    for (const operand of args) this.checkNesting(operand);
    if (name === "if_not_exists") {
      this.checkDistinct(name, left, right);
      if (left.kind !== "path") throw this.noPath(name);
      return { kind: "if_not_exists", path: left.path, otherwise: right };
    }
    for (const operand of args) this.checkType(name, operand, "L");
    return { kind: "list_append", left, right };
  }

  private checkNesting(operand: SetValue): void {
    if (operand.kind === "list_append") throw this.misuse("list_append");
  }

  private checkType(name: string, operand: SetValue, wanted: AttributeType): void {
    const type = knownType(operand);
    if (type !== undefined && type !== wanted) throw this.wrongType(name, type);
  }
}

function knownType(value: SetValue): AttributeType | undefined {
  if (value.kind === "value") return typeOf(value.value);
  if (value.kind === "list_append") return "L";
  return value.kind === "plus" || value.kind === "minus" ? "N" : undefined;
}
