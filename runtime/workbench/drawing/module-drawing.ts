/** Draws modules as Mermaid flowcharts. */
import {
  type AnyNode,
  type Expression,
  type FunctionDeclaration,
  type Program as Tree,
  type Statement,
  type SwitchStatement,
  type TryStatement,
  getLineInfo,
  parse,
} from 'acorn';
import { childrenOf, defaultExport } from '../../language/index.ts';
import { Drawing, type Tail } from './drawing.ts';
import type { ScenarioGraph } from './graph.ts';

type Body = Statement | Expression;
type Tails = readonly Tail[];

/** Limit of a shown condition, in characters. */
const MAX_TEXT = 40;
const END = 'stop';
const LOOPS: ReadonlySet<string> = new Set([
  'ForStatement',
  'ForOfStatement',
  'ForInStatement',
  'WhileStatement',
  'DoWhileStatement',
]);

/** Open arrows of statements that leave the normal flow. */
interface Ways {
  /** `return`, and uncaught `throw`. */
  readonly leave: (tails: Tails) => void;
  readonly fail: (tails: Tails) => void;
  readonly break: (tails: Tails, label: string | undefined) => void;
  readonly continue: (tails: Tails, label: string | undefined) => void;
}

/**
 * A module as a Mermaid flowchart: its calls of components, with their lines, and the conditions, loops and `catch`
 * between them. The module's functions that call components are drawn separately.
 * @param code the module without types, every position unchanged
 * @param methods names of the platform's functions, e.g. `call.play`
 */
export function moduleMermaid(id: string, code: string, methods: ReadonlySet<string>): string {
  return String(new ModuleDrawing(code, methods).draw(id));
}

/** The same as a graph of data. */
export function moduleGraph(id: string, code: string, methods: ReadonlySet<string>): ScenarioGraph {
  return new ModuleDrawing(code, methods).draw(id).graph();
}

class ModuleDrawing {
  readonly #code: string;
  readonly #tree: Tree;
  readonly #methods: ReadonlySet<string>;
  readonly #drawing = new Drawing();
  /** Flow of the module's default function. */
  readonly #main: AnyNode | undefined;
  readonly #callName: string | undefined;
  /** Functions of the module that call components. */
  readonly #functions = new Map<string, FunctionDeclaration>();

  constructor(code: string, methods: ReadonlySet<string>) {
    this.#code = code;
    this.#tree = parse(code, { ecmaVersion: 'latest', sourceType: 'module' });
    this.#methods = methods;
    const main = defaultExport(this.#tree);
    this.#main = typeof main === 'object' ? main.body : undefined;
    const call = typeof main === 'object' ? main.params[0] : undefined;
    this.#callName = call?.type === 'Identifier' ? call.name : undefined;
    const declared = this.#tree.body.flatMap((each) => (each.type === 'FunctionDeclaration' ? [each] : []));
    // Functions that call one of them call components, too.
    for (let known = -1; known < this.#functions.size; ) {
      known = this.#functions.size;
      for (const each of declared) if (this.#calls(each)) this.#functions.set(each.id.name, each);
    }
  }

  draw(id: string): Drawing {
    const drawing = this.#drawing;
    const start = drawing.node('end', id, 'start');
    drawing.node('end', 'end', END);
    drawing.arrows(this.#function(this.#main, [{ from: start }]), END);
    for (const [name, { body }] of this.#functions) {
      const begins = drawing.node('function', name, `f_${name}`);
      drawing.arrows(this.#function(body, [{ from: begins }]), drawing.node('end', `end of ${name}`));
    }
    return drawing;
  }

  /** @returns all open arrows at its end */
  #function(body: AnyNode | undefined, tails: Tails): Tails {
    if (body === undefined) return tails;
    const left: Tail[] = [];
    const leave = (more: Tails): void => void left.push(...more);
    const nowhere = (): void => undefined;
    const on = this.#statement(body as Body, tails, { leave, fail: leave, break: nowhere, continue: nowhere });
    return [...on, ...left];
  }

  #statement(node: Body, tails: Tails, ways: Ways): Tails {
    if (tails.length === 0) return tails;
    const { type } = node;
    if (type === 'BlockStatement')
      return node.body.reduce<Tails>((now, each) => this.#statement(each, now, ways), tails);
    if (type === 'IfStatement') return this.#if(node.test, node.consequent, node.alternate, tails, ways);
    if (type === 'SwitchStatement') return this.#switch(node, tails, ways);
    if (type === 'TryStatement') return this.#try(node, tails, ways);
    if (type === 'LabeledStatement' && LOOPS.has(node.body.type))
      return this.#loop(node.body, tails, ways, node.label.name);
    if (LOOPS.has(type)) return this.#loop(node, tails, ways);
    return this.#leads(node, tails, ways) ? [] : this.#expression(node, tails, ways);
  }

  /** True when the statement leaves the normal flow, so that nothing follows it. */
  #leads(node: Body, tails: Tails, ways: Ways): boolean {
    if (node.type === 'ReturnStatement')
      ways.leave(node.argument ? this.#expression(node.argument, tails, ways) : tails);
    else if (node.type === 'ThrowStatement')
      ways.fail(this.#expression(node.argument, tails, ways).map((tail) => ({ ...tail, label: 'throws' })));
    else if (node.type === 'BreakStatement') ways.break(tails, node.label?.name);
    else if (node.type === 'ContinueStatement') ways.continue(tails, node.label?.name);
    else return false;
    return true;
  }

  #if(test: Expression, yes: Statement, no: Statement | null | undefined, tails: Tails, ways: Ways): Tails {
    const tested = this.#expression(test, tails, ways);
    if (![yes, no].some((each) => each && this.#matters(each))) return tested;
    const choice = this.#drawing.node('choice', this.#text(test));
    this.#drawing.arrows(tested, choice);
    const otherwise = [{ from: choice, label: 'no' }];
    return [
      ...this.#statement(yes, [{ from: choice, label: 'yes' }], ways),
      ...(no ? this.#statement(no, otherwise, ways) : otherwise),
    ];
  }

  #switch(node: SwitchStatement, tails: Tails, ways: Ways): Tails {
    const tested = this.#expression(node.discriminant, tails, ways);
    if (!node.cases.some((each) => this.#matters(each))) return tested;
    const choice = this.#drawing.node('choice', this.#text(node.discriminant));
    this.#drawing.arrows(tested, choice);
    const out: Tail[] = [];
    const within: Ways = {
      ...ways,
      break: (more, label) => (label ? ways.break(more, label) : void out.push(...more)),
    };
    let falling: Tails = [];
    for (const { test, consequent } of node.cases) {
      const entry = { from: choice, label: test ? this.#text(test) : 'else' };
      falling = consequent.reduce<Tails>((now, each) => this.#statement(each, now, within), [...falling, entry]);
    }
    const rest = node.cases.some(({ test }) => !test) ? [] : [{ from: choice, label: 'else' }];
    return [...falling, ...out, ...rest];
  }

  #loop(node: AnyNode, tails: Tails, ways: Ways, name?: string): Tails {
    if (!this.#matters(node) || !('body' in node)) return tails;
    const body = node.body as Statement;
    const head = this.#code.slice(node.start, body.start);
    const choice = this.#drawing.node('choice', shortened(node.type === 'DoWhileStatement' ? 'do' : head));
    this.#drawing.arrows(tails, choice);
    const out: Tail[] = isEndless(node) ? [] : [{ from: choice, label: 'done' }];
    const again = (more: Tails): void => this.#drawing.arrows(more, choice);
    const ours = (label: string | undefined): boolean => label === undefined || label === name;
    const within: Ways = {
      ...ways,
      break: (more, label) => (ours(label) ? void out.push(...more) : ways.break(more, label)),
      continue: (more, label) => (ours(label) ? again(more) : ways.continue(more, label)),
    };
    const inHead = childrenOf(node)
      .filter((each) => each !== body)
      .reduce<Tails>((now, each) => this.#expression(each, now, within), [{ from: choice }]);
    again(this.#statement(body, inHead, within));
    return out;
  }

  #try({ block, handler, finalizer }: TryStatement, tails: Tails, ways: Ways): Tails {
    const failed: Tail[] = [];
    const left: Tail[] = [];
    const leave = finalizer ? (more: Tails): void => void left.push(...more) : ways.leave;
    const inside: Ways = { ...ways, leave, fail: (more) => void failed.push(...more) };
    let on = this.#statement(block, tails, { ...inside, fail: handler ? inside.fail : leave });
    if (handler) {
      const caught = this.#drawing.node('event', 'catch');
      // Every statement in the block may throw, as may the call before it.
      this.#drawing.arrows(failed.length > 0 ? failed : tails.map(dashed), caught);
      this.#drawing.arrows([...on].map(dashed), caught);
      on = [...on, ...this.#statement(handler.body, [{ from: caught }], { ...ways, leave, fail: leave })];
    }
    if (!finalizer) return on;
    const after = this.#statement(finalizer, [...on, ...left], ways);
    if (left.length > 0) ways.leave(after);
    return on.length > 0 ? after : [];
  }

  /** The components called in a node, the inner ones first. */
  #expression(node: AnyNode, tails: Tails, ways: Ways): Tails {
    if (isFunction(node) || !this.#matters(node)) return tails;
    if (node.type === 'CallExpression' && this.#name(node.callee) === 'events.on') {
      this.#listener(node.arguments);
      return tails;
    }
    let now = tails;
    for (const child of childrenOf(node))
      now = isFunction(child)
        ? this.#function((child as { body: AnyNode }).body, now)
        : this.#expression(child, now, ways);
    const name = node.type === 'CallExpression' ? this.#name(node.callee) : undefined;
    if (name === undefined) return now;
    const { line } = getLineInfo(this.#code, node.start);
    const step = this.#drawing.node(this.#functions.has(name) ? 'function' : 'step', name, undefined, line);
    this.#drawing.arrows(now, step);
    return [{ from: step }];
  }

  #listener([type, listener]: readonly AnyNode[]): void {
    if (!listener || !isFunction(listener)) return;
    const name = type?.type === 'Literal' ? String(type.value) : '...';
    const event = this.#drawing.node('event', `on ${name}`);
    this.#function((listener as { body: AnyNode }).body, [{ from: event, dashed: true }]);
  }

  /** The called component or function of the module. */
  #name(callee: AnyNode): string | undefined {
    if (callee.type === 'Identifier')
      return this.#methods.has(callee.name) || this.#functions.has(callee.name) ? callee.name : undefined;
    if (callee.type !== 'MemberExpression' || callee.object.type !== 'Identifier') return undefined;
    if (callee.property.type !== 'Identifier') return undefined;
    const owner = callee.object.name === this.#callName ? 'call' : callee.object.name;
    const name = `${owner}.${callee.property.name}`;
    return this.#methods.has(name) || name === 'events.on' ? name : undefined;
  }

  /** True when the drawing shows a part of the node. */
  #matters(node: AnyNode): boolean {
    const leads = ['ReturnStatement', 'ThrowStatement', 'BreakStatement', 'ContinueStatement'].includes(node.type);
    const isCall = node.type === 'CallExpression' && this.#name(node.callee) !== undefined;
    return (
      leads || isCall || childrenOf(node).some((each) => (isFunction(each) ? this.#calls(each) : this.#matters(each)))
    );
  }

  #calls(node: AnyNode): boolean {
    const isCall = node.type === 'CallExpression' && this.#name(node.callee) !== undefined;
    return isCall || childrenOf(node).some((each) => this.#calls(each));
  }

  #text(node: AnyNode): string {
    return shortened(this.#code.slice(node.start, node.end));
  }
}

function isFunction({ type }: AnyNode): boolean {
  return ['ArrowFunctionExpression', 'FunctionExpression', 'FunctionDeclaration'].includes(type);
}

function isEndless(node: AnyNode): boolean {
  if (node.type === 'ForStatement') return !node.test;
  return node.type === 'WhileStatement' && node.test.type === 'Literal' && Boolean(node.test.value);
}

function dashed(tail: Tail): Tail {
  return { from: tail.from, label: 'error', dashed: true };
}

function shortened(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT - 1)}…` : line;
}
