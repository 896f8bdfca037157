/** Scenarios as graphs of data, for programs that draw them. */
import { END, type Program } from '../../language/index.ts';

/** A place that a run can come to. */
export interface GraphNode {
  readonly id: string;
  readonly kind: 'start' | 'step' | 'choice' | 'event' | 'function' | 'end';
  /** Name of the block, or what a module calls or decides. */
  readonly label: string;
  /** Of a block. */
  readonly component?: string;
  /** Name of the block in traces; a module's call has it, too. */
  readonly block?: string;
  /** Counts from 1. */
  readonly line?: number;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  /** Exits that take this way. */
  readonly label?: string;
  /** An interrupt, or an error that may happen anywhere. */
  readonly dashed?: true;
}

export interface ScenarioGraph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

const STOP = 'stop';

/** A scenario of blocks as a graph. Targets that do not exist are left out. */
export function programGraph(program: Program): ScenarioGraph {
  const idOf = (name: string): string => (name === END ? STOP : `block-${name}`);
  const has = (name: string): boolean => name === END || program.blocks.has(name);
  const nodes: GraphNode[] = [{ id: 'start', kind: 'start', label: program.id }];
  const edges: GraphEdge[] = [];
  const arrow = (from: string, target: string, more: Pick<GraphEdge, 'label' | 'dashed'> = {}): void => {
    if (has(target)) edges.push({ from, to: idOf(target), ...more });
  };
  arrow('start', program.start);
  for (const [name, { component, exits, line }] of program.blocks) {
    nodes.push({ id: idOf(name), kind: 'step', label: name, component: component.name, block: name, line });
    const targets = Map.groupBy(exits, ([, target]) => target);
    for (const [target, several] of targets) {
      const label = several.map(([exit]) => exit).join(', ');
      arrow(idOf(name), target, label === 'next' ? {} : { label });
    }
  }
  program.interrupts.forEach(({ kind, name, target }, index) => {
    nodes.push({ id: `on-${index + 1}`, kind: 'event', label: `on ${kind} ${name}`.trim() });
    arrow(`on-${index + 1}`, target, { dashed: true });
  });
  if (program.finally !== undefined) {
    nodes.push({ id: 'finally', kind: 'start', label: 'finally' });
    arrow('finally', program.finally);
  }
  if (edges.some(({ to }) => to === STOP)) nodes.push({ id: STOP, kind: 'end', label: END });
  return { nodes, edges };
}
