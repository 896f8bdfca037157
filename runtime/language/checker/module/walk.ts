/** Static reading of an author's module: its nodes and exports. */
import type { AnyNode, FunctionDeclaration, Identifier, Program } from 'acorn';

/** Calls `visit` for every node, with up to three of the nodes around it, the nearest first. */
export function walk(node: AnyNode, visit: (node: AnyNode, around: readonly AnyNode[]) => void): void {
  const enter = (current: AnyNode, around: readonly AnyNode[]): void => {
    visit(current, around);
    const children = childrenOf(current);
    if (children.length === 0) return;
    const inside = [current, ...around.slice(0, 2)];
    for (const child of children) enter(child, inside);
  };
  enter(node, []);
}

export function childrenOf(node: AnyNode): AnyNode[] {
  const found: AnyNode[] = [];
  for (const value of Object.values(node) as unknown[])
    if (isNode(value)) found.push(value);
    else if (Array.isArray(value)) for (const item of value) if (isNode(item)) found.push(item);
  return found;
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';
}

/** The named exports of the module: the value of a constant, else the declaration. */
export function exportedValues(program: Program): ReadonlyMap<string, AnyNode> {
  const found = new Map<string, AnyNode>();
  for (const statement of program.body) {
    if (statement.type !== 'ExportNamedDeclaration') continue;
    const { declaration, specifiers } = statement;
    if (declaration?.type === 'VariableDeclaration') {
      for (const { id, init } of declaration.declarations)
        if (id.type === 'Identifier') found.set(id.name, init ?? declaration);
    } else if (declaration) found.set(declaration.id.name, declaration);
    for (const { local, exported } of specifiers)
      if (local.type === 'Identifier' && exported.type === 'Identifier')
        found.set(exported.name, topLevel(program, local) ?? local);
  }
  found.delete('default');
  return found;
}

/** The default export of the module: `missing`, a function, or another value, which is not checked. */
export function defaultExport(program: Program): 'missing' | 'unknown' | Pick<FunctionDeclaration, 'params' | 'body'> {
  for (const statement of program.body) {
    if (statement.type === 'ExportDefaultDeclaration') return asFunction(program, statement.declaration);
    if (statement.type !== 'ExportNamedDeclaration') continue;
    const specifier = statement.specifiers.find(
      ({ exported }) => exported.type === 'Identifier' && exported.name === 'default',
    );
    if (specifier?.local.type === 'Identifier') return asFunction(program, specifier.local);
  }
  return 'missing';
}

/** True for values that are certainly not functions. */
const NO_FUNCTIONS = ['ClassDeclaration', 'ClassExpression', 'ObjectExpression', 'ArrayExpression', 'Literal'];

function asFunction(
  program: Program,
  node: AnyNode,
): 'missing' | 'unknown' | Pick<FunctionDeclaration, 'params' | 'body'> {
  if (node.type === 'Identifier') {
    const value = topLevel(program, node);
    return value === undefined || value.type === 'Identifier' ? 'unknown' : asFunction(program, value);
  }
  const isFunction = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'].includes(node.type);
  if (NO_FUNCTIONS.includes(node.type)) return 'missing';
  return isFunction ? (node as FunctionDeclaration) : 'unknown';
}

function topLevel(program: Program, { name }: Identifier): AnyNode | undefined {
  for (const statement of program.body) {
    if (statement.type === 'FunctionDeclaration' && statement.id.name === name) return statement;
    if (statement.type !== 'VariableDeclaration') continue;
    for (const { id, init } of statement.declarations)
      if (id.type === 'Identifier' && id.name === name) return init ?? undefined;
  }
  return undefined;
}
