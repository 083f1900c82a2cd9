import { type Node, type SourceFile, SyntaxKind } from "typescript/unstable/ast";
import * as is from "typescript/unstable/ast/is";
import {
  API,
  type Checker,
  type NodeHandle,
  type Program,
  type Project,
  type Type,
  TypeFlags,
  type Symbol as TypeScriptSymbol,
} from "typescript/unstable/sync";
import { isFunction, moduleOf, unwrapped } from "./syntax";

export type { TypeScriptSymbol };

/** The repository as the compiler sees it. Answers are cached, because every function's reach repeats the questions. */
export class Sources {
  private readonly api: API;
  private readonly project: Project;
  private readonly symbols = new Map<Node, TypeScriptSymbol | undefined>();
  private readonly prepared = new Set<SourceFile>();
  private readonly resolved = new Map<string, Node | undefined>();
  private readonly types = new Map<Node, Type | undefined>();
  private readonly assignable = new Map<string, boolean>();

  constructor(readonly root: string) {
    this.api = new API({ cwd: root });
    const snapshot = this.api.updateSnapshot({ openProjects: [`${root}/tsconfig.json`] });
    const project = snapshot.getProject(`${root}/tsconfig.json`);
    if (!project) throw new Error(`the compiler cannot open ${root}/tsconfig.json`);
    this.project = project;
  }

  close(): void {
    this.api.close();
  }

  get checker(): Checker {
    return this.project.checker;
  }

  private get program(): Program {
    return this.project.program;
  }

  file(path: string): SourceFile {
    const file = this.program.getSourceFile(path);
    if (!file) throw new Error(`tsconfig.json does not include ${path}`);
    return file;
  }

  /**
   * Returns the symbol of a name. All names of a file are resolved at once, because each question is a message to the
   * compiler's process.
   */
  symbolOf(name: Node): TypeScriptSymbol | undefined {
    const file = name.getSourceFile();
    if (!this.prepared.has(file)) {
      this.prepared.add(file);
      const names: Node[] = [];
      const collect = (node: Node): void => {
        if (node.kind === SyntaxKind.Identifier || node.kind === SyntaxKind.PrivateIdentifier) names.push(node);
        node.forEachChild(collect);
      };
      collect(file);
      const symbols = this.checker.getSymbolAtLocation(names);
      for (const [i, node] of names.entries()) this.symbols.set(node, symbols[i]);
    }
    if (!this.symbols.has(name)) this.symbols.set(name, this.checker.getSymbolAtLocation(name));
    return this.symbols.get(name);
  }

  nodeOf(handle: NodeHandle): Node | undefined {
    const key = keyOf(handle);
    if (!this.resolved.has(key)) this.resolved.set(key, handle.resolve(this.project));
    return this.resolved.get(key);
  }

  typeOf(node: Node): Type | undefined {
    if (!this.types.has(node)) this.types.set(node, this.checker.getTypeAtLocation(node));
    return this.types.get(node);
  }

  /** Returns whether a value of the first type is assignable to the second. Returns true if the types do not decide. */
  mayBe(source: Type, requested: Type): boolean {
    const key = `${source.id} ${requested.id}`;
    let answer = this.assignable.get(key);
    if (answer === undefined) {
      // `this` is also a type parameter: of its class or a subclass.
      const target =
        requested.flags & TypeFlags.TypeParameter ? this.checker.getBaseConstraintOfType(requested) : requested;
      const unclear = TypeFlags.Any | TypeFlags.Unknown | TypeFlags.TypeParameter;
      answer = !target || (target.flags & unclear) !== 0 || this.checker.isTypeAssignableTo(source, target);
      this.assignable.set(key, answer);
    }
    return answer;
  }

  /** Returns the function that a name refers to, imported or not. */
  functionOf(symbol: TypeScriptSymbol | undefined): Node | undefined {
    for (const handle of symbol?.declarations ?? []) {
      if (!this.isOurs(handle)) continue;
      const node = this.nodeOf(handle);
      if (!node) continue;
      if (is.isFunctionDeclaration(node)) return node;
      if (is.isVariableDeclaration(node) && node.initializer && isFunction(unwrapped(node.initializer)))
        return unwrapped(node.initializer);
      if (is.isImportSpecifier(node) && symbol && moduleOf(node)?.startsWith(".")) {
        return this.functionOf(this.checker.getAliasedSymbol(symbol));
      }
    }
    return undefined;
  }

  /** Returns the file of the function or class that a name refers to. */
  fileOf(symbol: TypeScriptSymbol | undefined): string | undefined {
    for (const handle of symbol?.declarations ?? []) {
      const node = this.isOurs(handle) ? this.nodeOf(handle) : undefined;
      if (!node) continue;
      if (is.isFunctionDeclaration(node) || is.isClassDeclaration(node)) return node.getSourceFile().fileName;
      if (is.isImportSpecifier(node) && symbol && moduleOf(node)?.startsWith("."))
        return this.fileOf(this.checker.getAliasedSymbol(symbol));
    }
    return undefined;
  }

  isOurs(handle: NodeHandle): boolean {
    return handle.path.startsWith(`${this.root}/`) && !handle.path.includes("/node_modules/");
  }
}

export function keyOf(handle: NodeHandle): string {
  return `${handle.path}#${handle.index}`;
}
