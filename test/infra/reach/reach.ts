import {
  type CallExpression,
  type ClassLikeDeclaration,
  type NewExpression,
  type Node,
  type ObjectLiteralExpression,
  type SourceFile,
  SyntaxKind,
} from "typescript/unstable/ast";
import * as is from "typescript/unstable/ast/is";
import type { NodeHandle, Type } from "typescript/unstable/sync";
import type { Handover, Unit, Wiring } from "./model";
import { keyOf, type Sources, type TypeScriptSymbol } from "./sources";
import { append, isFunction, isTypeOnly, moduleOf, nameOf, once, textOf, unwrapped } from "./syntax";

/** The names of such parameters in this repository. */
const handedOn = new Set(["table"]);

/** A method of an object or a class. Its code is reached once the object may exist and code names the method. */
interface Member {
  readonly name: string;
  readonly value: Node;
  readonly holder: Unit;
  readonly keys: ReadonlySet<string>;
  readonly types: () => readonly Type[];
}

/**
 * The code that a module can reach: rapid type analysis with members instead of classes.
 *
 * `createPlatform` creates every port, so a function's reach depends on what it creates *and* names. A function is
 * reached when its name occurs in reached code. A method of an object literal or a class is reached when the literal or
 * the class is reached and a property access in reached code resolves to the method. It resolves by their common
 * declaration, or else by name if the object's type may be the accessed one. All other code inside a reached function
 * counts as run.
 *
 * The result may therefore include impossible calls. It misses only calls that the compiler does not see: values that
 * pass through `any`, `Reflect`, and names computed at run time.
 */
export class Reach {
  readonly units = new Map<Node, Unit>();
  readonly wirings: Wiring[] = [];
  readonly handovers: Handover[] = [];
  private readonly membersByKey = new Map<string, Member[]>();
  private readonly membersByName = new Map<string, Member[]>();
  private readonly accessesByKey = new Map<string, Set<Unit>>();
  private readonly accessesByName = new Map<string, { readonly type: Type; readonly unit: Unit }[]>();
  private readonly pending: Unit[] = [];
  private readonly sources: Sources;

  constructor(sources: Sources, entry: string) {
    this.sources = sources;
    const file = sources.file(entry);
    const root = this.reach(file, undefined);
    for (const statement of file.statements) {
      if (is.isFunctionDeclaration(statement)) this.reach(statement, root);
      if (!is.isVariableStatement(statement)) continue;
      for (const { initializer } of statement.declarationList.declarations) {
        if (initializer && isFunction(unwrapped(initializer))) this.reach(unwrapped(initializer), root);
      }
    }
    for (let unit = this.pending.pop(); unit; unit = this.pending.pop()) this.run(unit);
  }

  private reach(node: Node, caller: Unit | undefined): Unit {
    let unit = this.units.get(node);
    if (!unit) {
      const file = node.getSourceFile();
      const name = is.isSourceFile(node) ? "module" : nameOf(node);
      const path = file.fileName;
      unit = {
        node,
        name,
        file: path,
        commands: new Set(),
        sdkValues: new Set(),
        properties: new Map(),
        callers: new Set(),
      };
      this.units.set(node, unit);
      this.pending.push(unit);
      if (node !== file) this.reach(file, undefined);
    }
    if (caller && caller !== unit) unit.callers.add(caller);
    return unit;
  }

  private run(unit: Unit): void {
    const { node } = unit;
    if (is.isSourceFile(node)) this.module(node, unit);
    else if (is.isClassDeclaration(node) || is.isClassExpression(node)) this.class(node, unit);
    else if (is.isIdentifier(node)) this.mention(node, unit);
    else node.forEachChild((child) => this.scan(child, unit));
  }

  private module(file: SourceFile, unit: Unit): void {
    for (const statement of file.statements) {
      if (is.isImportDeclaration(statement) || is.isExportDeclaration(statement)) {
        const from = statement.moduleSpecifier;
        if (!from || !is.isStringLiteral(from) || !from.text.startsWith(".") || isTypeOnly(statement)) continue;
        const [declaration] = this.sources.checker.getSymbolAtLocation(from)?.declarations ?? [];
        const module = declaration && this.sources.nodeOf(declaration);
        if (module) this.reach(module, undefined);
      } else this.scan(statement, unit);
    }
  }

  private class(node: ClassLikeDeclaration, unit: Unit): void {
    const symbol = node.name && this.sources.symbolOf(node.name);
    for (const clause of node.heritageClauses ?? []) {
      for (const { expression } of clause.types)
        if (clause.token === SyntaxKind.ExtendsKeyword) this.scan(expression, unit);
    }
    for (const member of node.members) {
      if (
        is.isMethodDeclaration(member) ||
        is.isGetAccessorDeclaration(member) ||
        is.isSetAccessorDeclaration(member)
      ) {
        const types = () => (symbol ? [this.sources.checker.getDeclaredTypeOfSymbol(symbol)] : []);
        if (is.isComputedPropertyName(member.name)) this.reach(member, unit);
        else this.offer(member.name, member, unit, [], types);
      } else member.forEachChild((child) => this.scan(child, unit));
    }
  }

  private scan(node: Node, unit: Unit): void {
    if (is.isTypeNode(node) && node.kind !== SyntaxKind.ExpressionWithTypeArguments) return;
    switch (node.kind) {
      case SyntaxKind.InterfaceDeclaration:
      case SyntaxKind.TypeAliasDeclaration:
      case SyntaxKind.FunctionDeclaration:
      case SyntaxKind.ClassDeclaration:
        return; // They run when they are named.
      case SyntaxKind.ClassExpression:
        this.reach(node, unit);
        return;
    }
    if (is.isIdentifier(node)) {
      this.mention(node, unit);
      return;
    }
    if (is.isObjectLiteralExpression(node)) {
      this.literal(node, unit);
      return;
    }
    if (is.isPropertyAccessExpression(node)) {
      this.scan(node.expression, unit);
      this.access(this.sources.symbolOf(node.name), node.name.text, () => this.sources.typeOf(node.expression), unit);
      return;
    }
    if (is.isElementAccessExpression(node)) this.computed(node.expression, node.argumentExpression, unit);
    if (is.isVariableDeclaration(node)) {
      if (is.isObjectBindingPattern(node.name)) {
        const source = node.initializer ?? node.name;
        this.destructure(node.name, () => this.sources.typeOf(source), unit);
      } else if (node.initializer && isFunction(unwrapped(node.initializer))) return; // It runs when it is named.
    }
    if (is.isParameterDeclaration(node) && is.isObjectBindingPattern(node.name)) {
      const { name } = node;
      this.destructure(name, () => this.sources.typeOf(name), unit);
    }
    if (is.isCallExpression(node) || is.isNewExpression(node)) this.wire(node);
    if (is.isVariableDeclaration(node) || is.isParameterDeclaration(node) || is.isBindingElement(node)) {
      if (node.name && !is.isIdentifier(node.name)) this.scan(node.name, unit);
      if (node.initializer) this.scan(node.initializer, unit);
      return;
    }
    node.forEachChild((child) => this.scan(child, unit));
  }

  /**
   * Records a mention, which counts as a call, because code with a reference to a function may run it. Commands in a
   * list are an exception: the list only recognizes them, and they are created elsewhere.
   */
  private mention(identifier: Node, unit: Unit): void {
    const symbol = this.sources.symbolOf(identifier);
    const isListed = is.isArrayLiteralExpression(identifier.parent);
    for (const handle of symbol?.declarations ?? []) this.declared(symbol as TypeScriptSymbol, handle, unit, isListed);
  }

  private declared(symbol: TypeScriptSymbol, handle: NodeHandle, unit: Unit, isListed = false): void {
    if (!this.sources.isOurs(handle)) return;
    const node = this.sources.nodeOf(handle);
    if (!node) return;
    if (
      is.isImportSpecifier(node) ||
      is.isImportClause(node) ||
      is.isNamespaceImport(node) ||
      is.isExportSpecifier(node)
    ) {
      const from = moduleOf(node);
      if (from?.startsWith("@aws-sdk/")) {
        const name = is.isImportSpecifier(node) ? (node.propertyName ?? node.name).text : `* of ${from}`;
        const command = /^paginate(\w+)$/.exec(name)?.[1]?.concat("Command") ?? name;
        if (!command.endsWith("Command")) unit.sdkValues.add(command);
        else if (!isListed) unit.commands.add(command);
      } else if (from === undefined || from.startsWith(".")) {
        const target = this.sources.checker.getAliasedSymbol(symbol);
        for (const declaration of target.declarations) this.declared(target, declaration, unit);
      }
      return;
    }
    if (is.isFunctionDeclaration(node) || is.isClassDeclaration(node)) this.reach(node, unit);
    else if (is.isVariableDeclaration(node) && node.initializer && isFunction(unwrapped(node.initializer)))
      this.reach(unwrapped(node.initializer), unit);
  }

  private literal(literal: ObjectLiteralExpression, unit: Unit): void {
    const contextual = once(() => this.sources.checker.getContextualType(literal));
    const types = () => [contextual(), this.sources.typeOf(literal)].filter((type): type is Type => type !== undefined);
    for (const member of literal.properties) {
      if (is.isSpreadAssignment(member)) {
        this.scan(member.expression, unit);
        continue;
      }
      const { name } = member;
      if (!name || is.isComputedPropertyName(name)) {
        member.forEachChild((child) => this.scan(child, unit));
        continue;
      }
      const text = nameOf(member);
      const values = unit.properties.get(text) ?? new Set<string>();
      unit.properties.set(text, values);
      const value = is.isPropertyAssignment(member) ? unwrapped(member.initializer) : member;
      if (is.isStringLiteral(value)) values.add(value.text);
      const lazy = is.isShorthandPropertyAssignment(member) ? this.functionNamed(member) : this.lazyValue(value);
      if (lazy === undefined) {
        if (is.isPropertyAssignment(member)) this.scan(member.initializer, unit);
        continue;
      }
      const type = contextual();
      const property = type && this.sources.checker.getPropertyOfType(type, text);
      // The property is declared outside the repository, and its owner may call it.
      if (type && (!property || property.declarations.some((declaration) => !this.sources.isOurs(declaration))))
        this.reach(lazy, unit);
      else this.offer(name, lazy, unit, (property?.declarations ?? []).map(keyOf), types);
    }
  }

  /** Returns the code behind a member that runs only when the member is named. */
  private lazyValue(value: Node): Node | undefined {
    if (isFunction(value)) return value;
    return is.isIdentifier(value) ? this.sources.functionOf(this.sources.symbolOf(value)) && value : undefined;
  }

  private functionNamed(shorthand: Node): Node | undefined {
    return this.sources.functionOf(this.sources.checker.getShorthandAssignmentValueSymbol(shorthand));
  }

  private offer(
    name: Node,
    value: Node,
    holder: Unit,
    declared: readonly string[],
    types: () => readonly Type[],
  ): void {
    const own = this.sources.symbolOf(name)?.declarations.map(keyOf) ?? [];
    const member: Member = {
      name: textOf(name),
      value,
      holder,
      keys: new Set([...own, ...declared]),
      types: once(types),
    };
    for (const key of member.keys) {
      append(this.membersByKey, key, member);
      for (const unit of this.accessesByKey.get(key) ?? []) this.reach(value, unit);
    }
    append(this.membersByName, member.name, member);
    for (const { type, unit } of this.accessesByName.get(member.name) ?? []) this.tryByName(member, type, unit);
  }

  private access(symbol: TypeScriptSymbol | undefined, name: string, typeOf: () => Type | undefined, unit: Unit): void {
    const declarations = symbol?.declarations ?? [];
    if (declarations.length > 0 && declarations.every((declaration) => !this.sources.isOurs(declaration))) return;
    for (const declaration of declarations) {
      const key = keyOf(declaration);
      const units = this.accessesByKey.get(key) ?? new Set();
      this.accessesByKey.set(key, units.add(unit));
      for (const member of this.membersByKey.get(key) ?? []) this.reach(member.value, unit);
      // The member of a namespace import is a declaration itself.
      if (symbol) this.declared(symbol, declaration, unit);
    }
    const type = typeOf();
    if (!type) return;
    append(this.accessesByName, name, { type, unit });
    for (const member of this.membersByName.get(name) ?? []) this.tryByName(member, type, unit);
  }

  private tryByName(member: Member, type: Type, unit: Unit): void {
    if (this.units.get(member.value)?.callers.has(unit)) return;
    if (member.types().some((own) => this.sources.mayBe(own, type))) this.reach(member.value, unit);
  }

  /** Records `object[name]`, which may mean any of its members. */
  private computed(object: Node, argument: Node, unit: Unit): void {
    const type = this.sources.typeOf(object);
    if (!type) return;
    const { checker } = this.sources;
    const named = is.isStringLiteral(argument) ? checker.getPropertyOfType(type, argument.text) : undefined;
    const properties = named ? [named] : is.isStringLiteral(argument) ? [] : checker.getPropertiesOfType(type);
    for (const property of properties) this.access(property, property.name, () => type, unit);
  }

  private destructure(pattern: Node, typeOf: () => Type | undefined, unit: Unit): void {
    pattern.forEachChild((element) => {
      if (!is.isBindingElement(element) || element.dotDotDotToken) return;
      const name = element.propertyName ?? element.name;
      if (!name || !(is.isIdentifier(name) || is.isStringLiteral(name))) return;
      const from = typeOf();
      const property = from && this.sources.checker.getPropertyOfType(from, name.text);
      if (!property) return;
      this.access(property, name.text, typeOf, unit);
      if (element.name && is.isObjectBindingPattern(element.name))
        this.destructure(element.name, () => this.sources.checker.getTypeOfSymbol(property), unit);
    });
  }

  private wire(call: CallExpression | NewExpression): void {
    const symbol = is.isIdentifier(call.expression) ? this.sources.symbolOf(call.expression) : undefined;
    const callee = this.sources.fileOf(symbol);
    if (callee === undefined) return;
    for (const argument of call.arguments ?? []) {
      const setting = is.isPropertyAccessExpression(argument) ? this.setting(argument.name) : undefined;
      if (setting) this.wirings.push({ file: callee, setting });
      const from = call.getSourceFile().fileName;
      if (!is.isIdentifier(argument)) continue;
      if (argument.text.endsWith("Function")) this.wirings.push({ file: callee, setting: argument.text });
      if (handedOn.has(argument.text) && from !== callee) this.handovers.push({ from, to: callee });
    }
  }

  /** Returns the property that `platform/config` declares, with the outer ones: `tables.catalog`. */
  private setting(name: Node): string | undefined {
    const [handle] = this.sources.symbolOf(name)?.declarations ?? [];
    if (!handle?.path.includes("/platform/config/")) return undefined;
    const names: string[] = [];
    for (let node = this.sources.nodeOf(handle); node; node = node.parent) {
      if (is.isPropertySignatureDeclaration(node)) names.unshift(nameOf(node));
    }
    return names.join(".");
  }
}
