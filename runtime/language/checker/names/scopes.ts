/** Scopes of JavaScript (ECMA-262): the names of a script, with their declarations and uses. */
import type {
  AnyNode,
  Class,
  Expression,
  ForInStatement,
  ForOfStatement,
  Function as FunctionNode,
  Identifier,
  LabeledStatement,
  Literal,
  Pattern,
  Program,
} from 'acorn';
import { childrenOf } from '../module/walk.ts';

/** A declaration of a name in a script. */
export interface Binding {
  readonly node: AnyNode;
  readonly kind: 'constant' | 'parameter' | 'other';
  readonly references: readonly Reference[];
}

/** A use of a name. */
export interface Reference {
  readonly node: Identifier;
  /** `set`: assigned and not read; `update`: read and assigned. */
  readonly use: 'read' | 'set' | 'update' | 'typeof';
  /** The nodes around it, the nearest first; at most four. */
  readonly around: readonly AnyNode[];
  /** Undefined: not declared in the script. */
  readonly binding: Binding | undefined;
  /** It is always used before it has a value (the "temporal dead zone" of ECMA-262). */
  readonly early: boolean;
}

/** Names and texts of a script. */
export interface Names {
  readonly references: readonly Reference[];
  readonly declared: ReadonlySet<string>;
  /** Texts with `${` in them, with a test for names that are in scope there. */
  readonly texts: readonly { readonly node: Literal; readonly knows: (name: string) => boolean }[];
  /** The sources of its imports. */
  readonly imports: readonly Expression[];
  /** Names may come from `with` or `eval`, or cannot be resolved. */
  readonly open: boolean;
}

/** The names of one scope of a script. */
class Scope {
  readonly #names = new Map<string, Declared>();
  readonly #parent: Scope | undefined;
  /** The scope of the enclosing function, where `var` declares. */
  readonly home: Scope;
  readonly depth: number;

  constructor(parent?: Scope, isFunction = false) {
    this.#parent = parent;
    this.depth = parent === undefined ? 0 : parent.depth + 1;
    this.home = isFunction || parent === undefined ? this : parent.home;
  }

  add(name: string, node: AnyNode, { kind = 'other', ...lexical }: Lexical = {}): void {
    if (!this.#names.has(name)) this.#names.set(name, { node, ...lexical, kind, home: this.home, references: [] });
  }

  find(name: string): Declared | undefined {
    return this.#names.get(name) ?? this.#parent?.find(name);
  }
}

interface Lexical {
  /** The place of the declaration, for names that cannot be used before it (`let`, `const`, `class`). */
  readonly from?: number;
  /** The initialiser, which cannot use the name either. */
  readonly init?: AnyNode | null | undefined;
  readonly kind?: Binding['kind'];
}

interface Declared extends Binding, Omit<Lexical, 'kind'> {
  readonly home: Scope;
  readonly references: Reference[];
}

interface Use extends Omit<Reference, 'binding' | 'early'> {
  readonly scope: Scope;
}

/** The handling of one kind of nodes, in place of visiting their children. */
type Handlers = {
  readonly [Type in AnyNode['type']]?: (node: Extract<AnyNode, { type: Type }>, scope: Scope) => void;
};

const AROUND = 4;
/** Limit of nested scopes: lookups from deeper ones would take long. */
const MAX_DEPTH = 100;

/** Collects declarations and uses of names in JavaScript without types. */
export function namesIn(program: Program): Names {
  return new ScopeReader().read(program);
}

class ScopeReader {
  readonly #uses: Use[] = [];
  readonly #texts: { node: Literal; scope: Scope }[] = [];
  readonly #imports: Expression[] = [];
  readonly #declared = new Set<string>();
  readonly #around: AnyNode[] = [];
  #open = false;

  readonly #handlers: Handlers = {
    Literal: (node, scope) => {
      if (typeof node.value === 'string' && node.value.includes('${')) this.#texts.push({ node, scope });
    },
    UnaryExpression: ({ operator, argument }, scope) => {
      if (operator === 'typeof' && argument.type === 'Identifier') this.#use(argument, 'typeof', scope);
      else this.#visit(argument, scope);
    },
    UpdateExpression: ({ argument }, scope) =>
      this.#pattern(argument as Pattern, scope, (name) => this.#use(name, 'update', scope)),
    AssignmentExpression: ({ left, operator, right }, scope) => {
      this.#pattern(left, scope, (name) => this.#use(name, operator === '=' ? 'set' : 'update', scope));
      this.#visit(right, scope);
    },
    VariableDeclaration: ({ kind, declarations }, scope) => {
      for (const declarator of declarations) {
        const { id, init } = declarator;
        const home = kind === 'var' ? scope.home : scope;
        const lexical =
          kind === 'var' ? {} : { from: id.start, init, ...(kind === 'const' ? { kind: 'constant' as const } : {}) };
        this.#around.push(declarator);
        this.#pattern(id, scope, (name) => this.#declare(name, home, lexical));
        if (init) this.#visit(init, scope);
        this.#around.pop();
      }
    },
    FunctionDeclaration: (node, scope) => {
      // Outside of strict mode the function declares it as well.
      if (node.id) for (const home of [scope, scope.home]) this.#declare(node.id, home);
      this.#function(node, new Scope(scope, true));
    },
    FunctionExpression: (node, scope) => {
      const own = new Scope(scope, true);
      if (node.id) this.#declare(node.id, own);
      this.#function(node, own);
    },
    ArrowFunctionExpression: (node, scope) => this.#function(node, new Scope(scope, true)),
    ClassDeclaration: (node, scope) => {
      if (node.id) this.#declare(node.id, scope, { from: node.start });
      this.#class(node, scope);
    },
    ClassExpression: (node, scope) => {
      const own = new Scope(scope);
      if (node.id) this.#declare(node.id, own);
      this.#class(node, own);
    },
    PropertyDefinition: ({ computed, key, value }, scope) => {
      if (computed) this.#visit(key, scope);
      if (value) this.#visit(value, new Scope(scope, true));
    },
    StaticBlock: (node, scope) => this.#children(node, new Scope(scope, true)),
    BlockStatement: (node, scope) => this.#children(node, new Scope(scope)),
    SwitchStatement: (node, scope) => this.#children(node, new Scope(scope)),
    ForStatement: (node, scope) => this.#children(node, new Scope(scope)),
    ForInStatement: (node, scope) => this.#forEach(node, new Scope(scope)),
    ForOfStatement: (node, scope) => this.#forEach(node, new Scope(scope)),
    CatchClause: ({ param, body }, scope) => {
      const own = new Scope(scope);
      if (param) this.#pattern(param, own, (name) => this.#declare(name, own));
      this.#visit(body, own);
    },
    ImportExpression: ({ source }, scope) => {
      this.#imports.push(source);
      this.#visit(source, scope);
    },
    ImportDeclaration: ({ specifiers, source }, scope) => {
      this.#imports.push(source);
      for (const { local } of specifiers) this.#declare(local, scope);
    },
    ExportNamedDeclaration: (node, scope) => {
      if (node.source) this.#imports.push(node.source);
      else this.#children(node, scope);
    },
    WithStatement: () => {
      this.#open = true;
    },
    // Re-exports name foreign names; exported names may be read before they have a value.
    MetaProperty: () => undefined,
    ExportSpecifier: () => undefined,
    ExportAllDeclaration: ({ source }) => void this.#imports.push(source),
  };

  read(program: Program): Names {
    this.#children(program, new Scope());
    return {
      references: this.#uses.map(resolved),
      imports: this.#imports,
      declared: this.#declared,
      texts: this.#texts.map(({ node, scope }) => ({ node, knows: (name) => scope.find(name) !== undefined })),
      open: this.#open,
    };
  }

  #visit(node: AnyNode, scope: Scope): void {
    if (node.type === 'Identifier') return this.#use(node, 'read', scope);
    this.#around.push(node);
    const handler = this.#handlers[node.type] as ((node: AnyNode, scope: Scope) => void) | undefined;
    if (handler) handler(node, scope);
    else this.#children(node, scope);
    this.#around.pop();
  }

  #children(node: AnyNode, scope: Scope): void {
    const name = nameOnly(node);
    for (const child of childrenOf(node)) if (child !== name) this.#visit(child, scope);
  }

  #function(node: FunctionNode, own: Scope): void {
    if (node.type !== 'ArrowFunctionExpression') own.add('arguments', node.body);
    for (const param of node.params)
      this.#pattern(param, own, (name) => this.#declare(name, own, { kind: 'parameter' }));
    this.#visit(node.body, own);
  }

  #forEach({ left, right, body }: ForInStatement | ForOfStatement, own: Scope): void {
    if (left.type === 'VariableDeclaration') this.#visit(left, own);
    else this.#pattern(left, own, (name) => this.#use(name, 'set', own));
    this.#visit(right, own);
    this.#visit(body, own);
  }

  #class(node: Class, scope: Scope): void {
    if (node.superClass) this.#visit(node.superClass, scope);
    this.#children(node.body, scope);
  }

  /** Calls `named` for the names in a pattern, and visits its computed keys and defaults. */
  #pattern(pattern: Pattern, scope: Scope, named: (name: Identifier) => void): void {
    if (pattern.type === 'Identifier') return named(pattern);
    this.#around.push(pattern);
    if (pattern.type === 'MemberExpression') this.#children(pattern, scope);
    else if (pattern.type === 'RestElement') this.#pattern(pattern.argument, scope, named);
    else if (pattern.type === 'ArrayPattern') {
      for (const element of pattern.elements) if (element) this.#pattern(element, scope, named);
    } else if (pattern.type === 'AssignmentPattern') {
      this.#pattern(pattern.left, scope, named);
      this.#visit(pattern.right, scope);
    } else
      for (const property of pattern.properties) {
        if (property.type === 'Property' && property.computed) this.#visit(property.key, scope);
        this.#pattern(property.type === 'Property' ? property.value : property, scope, named);
      }
    this.#around.pop();
  }

  #declare(node: Identifier, scope: Scope, lexical?: Lexical): void {
    this.#declared.add(node.name);
    scope.add(node.name, node, lexical);
  }

  #use(node: Identifier, use: Use['use'], scope: Scope): void {
    if (scope.depth > MAX_DEPTH) {
      this.#open = true;
      return;
    }
    const around = this.#around.slice(-AROUND).toReversed();
    if (node.name === 'eval' && around[0]?.type === 'CallExpression') this.#open = true;
    this.#uses.push({ node, use, around, scope });
  }
}

/** Resolves the uses once all declarations are known, also those after a use. */
function resolved({ node, use, around, scope }: Use): Reference {
  const binding = scope.find(node.name);
  const early = binding !== undefined && binding.home === scope.home && isBefore(node, binding);
  const reference = { node, use, around, binding, early };
  binding?.references.push(reference);
  return reference;
}

function isBefore({ start }: AnyNode, { from, init }: Declared): boolean {
  if (from === undefined) return false;
  return start < from || (init ? start >= init.start && start < init.end : false);
}

/** The child that names a property or a label: not a use of a variable. */
function nameOnly(node: AnyNode): unknown {
  if (node.type === 'MemberExpression') return node.computed ? undefined : node.property;
  if (node.type === 'Property' || node.type === 'MethodDefinition') return node.computed ? undefined : node.key;
  const isLabelled = ['LabeledStatement', 'BreakStatement', 'ContinueStatement'].includes(node.type);
  return isLabelled ? (node as LabeledStatement).label : undefined;
}
