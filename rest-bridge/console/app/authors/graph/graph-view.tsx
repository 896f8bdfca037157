/** The graph of a scenario as SVG. One node takes part in Tab; arrows go to the next one, Enter opens it. */
import { useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Problem } from '../../parts/problem.tsx';
import { words } from '../../words/scenarios.ts';
import type { Graph } from '../scenario-types.ts';
import { layout, type Placed, type PlacedEdge, type PlacedNode, shown } from './layout.ts';

export interface GraphViewProps {
  readonly graph: Graph | undefined;
  /** Ids of the nodes that a run has passed. */
  readonly passed?: ReadonlySet<string>;
  /** Id of the node where it is. */
  readonly current?: string | undefined;
  /** Id of the node of the editor's line. */
  readonly marked?: string | undefined;
  /** Ids of nodes with mistakes. */
  readonly wrong?: ReadonlySet<string>;
  readonly onOpen?: (line: number) => void;
}

const NONE: ReadonlySet<string> = new Set();
const ZOOMS = [0.4, 0.55, 0.75, 1, 1.3, 1.7];
const NORMAL = 3;

export function GraphView({ graph, passed = NONE, current, marked, wrong = NONE, onOpen }: GraphViewProps) {
  const placed = useSignal<Placed | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  const zoom = useSignal(NORMAL);
  const active = useSignal<string | undefined>(undefined);
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    if (graph === undefined) return undefined;
    let isWanted = true;
    layout(graph).then(
      (found) => isWanted && (placed.value = found),
      (error: unknown) => isWanted && (failure.value = error),
    );
    return () => {
      isWanted = false;
    };
  }, [graph]);
  useEffect(() => {
    const shownNow = current ?? marked;
    if (shownNow === undefined) return;
    const node = scroller.current?.querySelector(`[data-node="${CSS.escape(shownNow)}"]`);
    node?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [current, marked, placed.value]);
  const { value: drawn } = placed;
  // It has its place from the beginning: what is below it must not move under a click.
  if (failure.value !== undefined || drawn === undefined || drawn.nodes.length === 0)
    return (
      <div class="graph">
        <div class="graph-scroll">
          {failure.value === undefined ? (
            <p class="empty">{drawn === undefined ? `${words('drawing')} …` : words('nothingToDraw')}</p>
          ) : (
            <Problem error={failure.value} />
          )}
        </div>
      </div>
    );
  const reachable = drawn.nodes.some((node) => node.id === active.value) ? active.value : drawn.nodes[0]?.id;
  const move = (event: KeyboardEvent): void => {
    const from = drawn.nodes.find((node) => node.id === reachable);
    const to = from && nextNode(drawn.nodes, from, event.key);
    if (to === undefined) return;
    event.preventDefault();
    active.value = to.id;
    scroller.current?.querySelector<SVGElement>(`[data-node="${CSS.escape(to.id)}"]`)?.focus();
  };
  const scale = ZOOMS[zoom.value] ?? 1;
  return (
    <div class="graph">
      <div class="graph-scroll" ref={scroller}>
        <svg
          width={drawn.width * scale}
          height={drawn.height * scale}
          viewBox={`0 0 ${drawn.width} ${drawn.height}`}
          role="group"
          aria-label={words('graph')}
          onKeyDown={move}
        >
          <defs>
            <marker id={`${id}-tip`} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M0 0L8 4L0 8z" class="tip" />
            </marker>
          </defs>
          {drawn.edges.map((edge, index) => (
            <Edge key={index} edge={edge} tip={`${id}-tip`} isPassed={passed.has(edge.from) && passed.has(edge.to)} />
          ))}
          {drawn.nodes.map((node) => (
            <Node
              key={node.id}
              node={node}
              state={[
                passed.has(node.id) && 'passed',
                node.id === current && 'current',
                node.id === marked && 'marked',
                wrong.has(node.id) && 'wrong',
              ]}
              isReachable={node.id === reachable}
              onOpen={() => {
                active.value = node.id;
                if (node.line !== undefined) onOpen?.(node.line);
              }}
            />
          ))}
        </svg>
      </div>
      <div class="graph-zoom">
        <button
          type="button"
          aria-label={words('zoomOut')}
          disabled={zoom.value === 0}
          onClick={() => (zoom.value -= 1)}
        >
          −
        </button>
        <button
          type="button"
          aria-label={words('zoomIn')}
          disabled={zoom.value === ZOOMS.length - 1}
          onClick={() => (zoom.value += 1)}
        >
          +
        </button>
      </div>
    </div>
  );
}

function Edge({
  edge,
  tip,
  isPassed,
}: {
  readonly edge: PlacedEdge;
  readonly tip: string;
  readonly isPassed: boolean;
}) {
  const { points, label, labelAt, dashed } = edge;
  const path = points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join('');
  return (
    <g class={`edge${dashed === true ? ' dashed' : ''}${isPassed ? ' passed' : ''}`} aria-hidden="true">
      <path d={path} marker-end={`url(#${tip})`} />
      {label !== undefined && labelAt !== undefined && (
        <text x={labelAt.x} y={labelAt.y}>
          {shown(label)}
        </text>
      )}
    </g>
  );
}

interface NodeProps {
  readonly node: PlacedNode;
  readonly state: readonly (string | false)[];
  readonly isReachable: boolean;
  readonly onOpen: () => void;
}

function Node({ node, state, isReachable, onOpen }: NodeProps) {
  const { id, kind, label, component, x, y, width, height, line } = node;
  const states = state.filter((each) => each !== false);
  const said = [
    ...(label === shown(label) ? [] : [label]),
    ...(line === undefined ? [] : [words('line', { n: line })]),
    ...states.map((each) => words(each as 'passed' | 'current' | 'marked' | 'wrong')),
  ];
  return (
    <g
      class={['node', kind, ...states].join(' ')}
      data-node={id}
      transform={`translate(${x} ${y})`}
      role="button"
      tabindex={isReachable ? 0 : -1}
      aria-description={said.join(', ')}
      aria-current={states.includes('current') ? 'step' : undefined}
      onClick={onOpen}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        onOpen();
      }}
    >
      <rect width={width} height={height} rx={kind === 'start' || kind === 'end' ? height / 2 : 6} />
      <text x={width / 2} y={component === undefined ? height / 2 + 4.5 : 18}>
        {shown(label)}
      </text>
      {component !== undefined && (
        <text class="component" x={width / 2} y={33}>
          {component}
        </text>
      )}
    </g>
  );
}

/** The nearest node in the direction of a key. */
function nextNode(nodes: readonly PlacedNode[], from: PlacedNode, key: string): PlacedNode | undefined {
  const middle = ({ x, y, width, height }: PlacedNode) => ({ x: x + width / 2, y: y + height / 2 });
  const own = middle(from);
  const [dx, dy] = { ArrowDown: [0, 1], ArrowUp: [0, -1], ArrowRight: [1, 0], ArrowLeft: [-1, 0] }[key] ?? [0, 0];
  if (dx === 0 && dy === 0) return undefined;
  const distances = nodes.flatMap((node) => {
    const { x, y } = middle(node);
    const along = (x - own.x) * (dx ?? 0) + (y - own.y) * (dy ?? 0);
    const aside = Math.abs((x - own.x) * (dy ?? 0)) + Math.abs((y - own.y) * (dx ?? 0));
    return along > 1 ? [{ node, distance: along + 2 * aside }] : [];
  });
  return distances.toSorted((a, b) => a.distance - b.distance)[0]?.node;
}
