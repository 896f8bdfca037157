/** Import and export statements of a module (ECMA-262, 16.2). */
import type { Identifier, Literal, Pattern, Program } from 'acorn';
import { walk } from './walk.ts';

export interface Import {
  /** Undefined: computed, in an `import(...)`. */
  readonly specifier: Literal | undefined;
  /** True for `import(...)`. */
  readonly isDynamic: boolean;
  /** The names that it takes from the module, with their places. */
  readonly names: readonly { readonly name: string; readonly start: number }[];
}

/** The imports of a module, and its exports from other modules, in their order. */
export function importsOf(program: Program): readonly Import[] {
  const found: Import[] = [];
  for (const statement of program.body) {
    if (statement.type === 'ImportDeclaration') {
      const names = statement.specifiers.flatMap((each) =>
        each.type === 'ImportNamespaceSpecifier'
          ? []
          : [{ name: each.type === 'ImportSpecifier' ? nameOf(each.imported) : 'default', start: each.start }],
      );
      found.push({ specifier: statement.source, isDynamic: false, names });
    } else if (statement.type === 'ExportNamedDeclaration' && statement.source) {
      const names = statement.specifiers.map(({ local, start }) => ({ name: nameOf(local), start }));
      found.push({ specifier: statement.source, isDynamic: false, names });
    } else if (statement.type === 'ExportAllDeclaration')
      found.push({ specifier: statement.source, isDynamic: false, names: [] });
  }
  walk(program, (node) => {
    if (node.type !== 'ImportExpression') return;
    const { source } = node;
    found.push({ specifier: source.type === 'Literal' ? source : undefined, isDynamic: true, names: [] });
  });
  return found;
}

/** The names that a module exports. @property all the specifiers of its `export * from` */
export function exportsOf(program: Program): { readonly names: readonly string[]; readonly all: readonly string[] } {
  const names: string[] = [];
  const all: string[] = [];
  for (const statement of program.body) {
    if (statement.type === 'ExportDefaultDeclaration') names.push('default');
    else if (statement.type === 'ExportAllDeclaration') {
      if (statement.exported) names.push(nameOf(statement.exported));
      else all.push(String(statement.source.value));
    } else if (statement.type === 'ExportNamedDeclaration') {
      names.push(...statement.specifiers.map(({ exported }) => nameOf(exported)));
      const { declaration } = statement;
      if (declaration?.type === 'VariableDeclaration')
        names.push(...declaration.declarations.flatMap(({ id }) => declared(id)));
      else if (declaration) names.push(declaration.id.name);
    }
  }
  return { names, all };
}

function nameOf(node: Identifier | Literal): string {
  return node.type === 'Identifier' ? node.name : String(node.value);
}

/** The names in a pattern: `{ a, b: [c] }`. */
function declared(pattern: Pattern): readonly string[] {
  if (pattern.type === 'Identifier') return [pattern.name];
  if (pattern.type === 'ObjectPattern')
    return pattern.properties.flatMap((each) => declared(each.type === 'Property' ? each.value : each.argument));
  if (pattern.type === 'ArrayPattern') return pattern.elements.flatMap((each) => (each ? declared(each) : []));
  if (pattern.type === 'AssignmentPattern') return declared(pattern.left);
  return pattern.type === 'RestElement' ? declared(pattern.argument) : [];
}

/** True for a module without a default export that exports something else: other scenarios import it. */
export function isShared(program: Program, declarations: readonly string[]): boolean {
  const { names, all } = exportsOf(program);
  return !names.includes('default') && (all.length > 0 || names.some((name) => !declarations.includes(name)));
}
