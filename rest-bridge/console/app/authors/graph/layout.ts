/** The layout of a graph, by elkjs in a worker: that of a scenario of 200 blocks takes long enough to be felt. */
import type { ELK as Elk, ElkExtendedEdge, ElkNode } from 'elkjs/lib/elk-api.js';
import type { Graph, GraphEdge, GraphNode } from '../scenario-types.ts';

export interface PlacedNode extends GraphNode {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface PlacedEdge extends GraphEdge {
  readonly points: readonly { readonly x: number; readonly y: number }[];
  readonly labelAt: { readonly x: number; readonly y: number } | undefined;
}

export interface Placed {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
}

/** Pixels. */
const CHARACTER = 7.2;
const LABEL_CHARACTER = 6;
const LINE = 16;
/** Longer texts are cut. */
export const MOST_SHOWN = 28;

const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.spacing.nodeNode': '28',
  'elk.layered.spacing.nodeNodeBetweenLayers': '36',
  'elk.spacing.edgeNode': '16',
  'elk.edgeLabels.inline': 'false',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.padding': '[top=12,left=12,bottom=12,right=12]',
};

let layouter: Promise<Elk> | undefined;

/** What browsers have for scripts of known addresses; not yet in TypeScript's library. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

const WORKER = '/console/elk-worker.min.js';

async function open(): Promise<Elk> {
  const { default: loaded } = await import('elkjs/lib/elk-api.js');
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  const url = trustedTypes?.createPolicy('graph-layout', { createScriptURL: () => WORKER }).createScriptURL(WORKER);
  return new loaded.default({ workerFactory: () => new Worker(url ?? WORKER) });
}

/** @throws Error when the layout cannot be loaded */
export async function layout(graph: Graph): Promise<Placed> {
  layouter ??= open();
  const elk = await layouter;
  const ids = new Set(graph.nodes.map(({ id }) => id));
  const edges = graph.edges.filter(({ from, to }) => ids.has(from) && ids.has(to));
  const root: ElkNode = {
    id: 'root',
    layoutOptions: OPTIONS,
    // Loops lead back to what comes earlier here.
    children: inOrder(graph.nodes).map((node) => ({ id: node.id, ...sizeOf(node) })),
    edges: edges.map(({ from, to, label }, index) => ({
      id: `edge-${index}`,
      sources: [from],
      targets: [to],
      labels:
        label === undefined ? [] : [{ text: label, width: shown(label).length * LABEL_CHARACTER + 6, height: LINE }],
    })),
  };
  const placed = await elk.layout(root);
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  return {
    width: placed.width ?? 0,
    height: placed.height ?? 0,
    nodes: (placed.children ?? []).flatMap(({ id, x = 0, y = 0, width = 0, height = 0 }) => {
      const node = byId.get(id);
      return node === undefined ? [] : [{ ...node, x, y, width, height }];
    }),
    edges: edges.map((edge, index) => ({ ...edge, ...wayOf(placed.edges?.[index]) })),
  };
}

/** The end comes last. */
function inOrder(nodes: readonly GraphNode[]): readonly GraphNode[] {
  return nodes.toSorted((a, b) => Number(a.kind === 'end') - Number(b.kind === 'end'));
}

/** A text as it is shown. */
export function shown(text: string): string {
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN - 1)}…` : text;
}

function sizeOf({ label, component }: GraphNode): { readonly width: number; readonly height: number } {
  const longest = Math.max(shown(label).length, component?.length ?? 0, 4);
  return { width: Math.round(longest * CHARACTER) + 24, height: component === undefined ? 30 : 42 };
}

function wayOf(edge: ElkExtendedEdge | undefined): Pick<PlacedEdge, 'points' | 'labelAt'> {
  const [section] = edge?.sections ?? [];
  const [label] = edge?.labels ?? [];
  const points = section === undefined ? [] : [section.startPoint, ...(section.bendPoints ?? []), section.endPoint];
  const labelAt = label === undefined ? undefined : { x: (label.x ?? 0) + 3, y: (label.y ?? 0) + 12 };
  return { points, labelAt };
}
