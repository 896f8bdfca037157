import type { AnyNode, Program, Statement } from 'acorn';
import { childrenOf, walk } from '../module/walk.ts';
import type { Report } from '../names/unknown-names.ts';

/** Warns of endless loops such as `while (true) { }`: no break, return or throw, and no wait. */
export function checkEndlessLoops(program: Program, report: Report): void {
  const budget = { nodes: MAX_NODES };
  walk(program, (node, [around]) => {
    if (!isEndless(node)) return;
    const own = around?.type === 'LabeledStatement' ? around.label.name : undefined;
    if (!isLeft(node.body, { own, inside: [], direct: true }, budget))
      report(node.start, 'this loop never ends', 'leave it by break or return', 'warning');
  });
}

function isEndless(node: AnyNode): node is AnyNode & { readonly body: Statement } {
  if (node.type === 'ForStatement') return !node.test || isTrue(node.test);
  return (node.type === 'WhileStatement' || node.type === 'DoWhileStatement') && isTrue(node.test);
}

function isTrue(test: AnyNode): boolean {
  return test.type === 'Literal' && Boolean(test.value);
}

const TAKES_BREAK: ReadonlySet<string> = new Set([
  'ForStatement',
  'ForInStatement',
  'ForOfStatement',
  'WhileStatement',
  'DoWhileStatement',
  'SwitchStatement',
]);

/** Limit of visited nodes: nested loops would take long. */
const MAX_NODES = 100_000;

interface Within {
  /** The label of the loop. */
  readonly own: string | undefined;
  /** Labels of statements in its body. */
  readonly inside: readonly string[];
  /** True where a `break` without a label ends the loop. */
  readonly direct: boolean;
}

const LEAVES: ReadonlySet<string> = new Set([
  'ReturnStatement',
  'ThrowStatement',
  'AwaitExpression',
  'YieldExpression',
]);
const FUNCTIONS: ReadonlySet<string> = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
]);

/** True when the body of a loop can leave it, or waits. */
function isLeft(node: AnyNode, within: Within, budget: { nodes: number }): boolean {
  budget.nodes -= 1;
  if (budget.nodes < 0) return true;
  const { own, inside, direct } = within;
  if (LEAVES.has(node.type) || (node.type === 'ForOfStatement' && node.await)) return true;
  if (FUNCTIONS.has(node.type)) return false;
  if (node.type === 'BreakStatement') return node.label ? !inside.includes(node.label.name) : direct;
  if (node.type === 'ContinueStatement') return node.label ? ![own, ...inside].includes(node.label.name) : false;
  const deeper = {
    own,
    inside: node.type === 'LabeledStatement' ? [...inside, node.label.name] : inside,
    direct: direct && !TAKES_BREAK.has(node.type),
  };
  return childrenOf(node).some((child) => isLeft(child, deeper, budget));
}
